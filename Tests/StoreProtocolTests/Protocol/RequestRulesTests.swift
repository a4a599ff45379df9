import Basics
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct RequestRulesTests {
    /// A request of a rule's operation that uses the rule's name.
    private struct Case {
        let method: String
        let query: String
        let fields: HTTPFields
        let operation: OperationName

        init(_ operation: OperationName, _ method: String, _ name: String, _ value: String, inQuery: Bool = false)
            throws
        {
            self.method = method
            self.operation = operation
            query = inQuery ? "?\(name)=\(URLEncoding.encode(value))" : ""
            fields = inQuery ? [:] : [name: value]
        }

        func check(_ rules: RequestRules) throws -> StoreError.Code? {
            let target = try RequestTarget("/bucket/key\(query)", host: "", domains: [])
            do throws(StoreError) {
                try rules.check(SignedRequest(method: method, target: target, fields: fields), operation)
                return nil
            } catch {
                return error.code
            }
        }
    }

    private static func name(_ rule: RequestRule) -> String {
        rule.name.hasSuffix("*") ? rule.name.dropLast() + "example" : rule.name
    }

    /// Checks each rule of a table, with a field and with the query of a presigned URL.
    private func eachRuleHolds(_ rules: RequestRules) throws {
        #expect(!rules.rules.isEmpty)
        for rule in rules.rules {
            let name = Self.name(rule)
            for inQuery in [false, true] {
                func outcome(_ operation: OperationName, _ method: String, _ value: String) throws -> StoreError.Code? {
                    try Case(operation, method, name, value, inQuery: inQuery).check(rules)
                }
                let put = try outcome(.putObject, "PUT", "value")
                switch rule.treatment {
                case .honored, .irrelevant: #expect(put == nil, "\(name)")
                case .refused(let code): #expect(put == code, "\(name)")
                case .only(let values, let code):
                    #expect(put == code, "\(name)")
                    for value in values {
                        #expect(try outcome(.putObject, "PUT", value.uppercased()) == nil, "\(name)")
                    }
                case .honoredOnly(let operations):
                    // HTTP's own conditions are header fields only.
                    let isRead = !inQuery || name.hasPrefix("x-")
                    let isHonored = isRead && operations.contains(.putObject)
                    #expect(put == (isHonored ? nil : .notImplemented), "\(name)")
                    let part = OperationName.uploadPart
                    #expect(try outcome(part, "PUT", "value") == .notImplemented, "\(name)")
                    #expect(try outcome(.getObject, "GET", "value") == nil, "\(name)")
                }
            }
        }
    }

    @Test func everyLineOfS3Holds() throws { try eachRuleHolds(.s3) }

    @Test func everyLineOfOSSHolds() throws { try eachRuleHolds(.oss) }

    @Test func namesOccurOnce() {
        for rules in [RequestRules.s3, .oss] {
            #expect(Set(rules.rules.map(\.name)).count == rules.rules.count)
            #expect(rules.rules.allSatisfy { $0.name == $0.name.lowercased() })
        }
    }

    /// The rule of a full name takes precedence over that of its beginning.
    @Test func exactNamesGoBeforeBeginnings() {
        #expect(RequestRules.s3.rule(for: "x-amz-checksum-mode")?.name == "x-amz-checksum-mode")
        #expect(RequestRules.s3.rule(for: "x-amz-checksum-sha512")?.name == "x-amz-checksum-*")
        #expect(RequestRules.s3.rule(for: "x-amz-unknown") == nil)
        #expect(RequestRules.oss.rule(for: "x-oss-server-side-encryption-key-id")?.name == "x-oss-server-side-*")
    }

    /// A static key's request that writes has no name of either namespace without a rule; one that reads may.
    @Test func unknownNamesOfWritesAreRefused() throws {
        func outcome(_ rules: RequestRules, _ method: String, _ target: String, _ fields: HTTPFields) throws -> String?
        {
            let target = try RequestTarget(target, host: "", domains: [])
            let request = SignedRequest(method: method, target: target, fields: fields)
            do throws(StoreError) {
                try rules.requireKnown(request, method == "GET" ? .getObject : .putObject)
                return nil
            } catch {
                #expect(error.code == .notImplemented)
                return error.message
            }
        }
        for rules in [RequestRules.s3, .oss] {
            for name in ["x-amz-novelty", "x-oss-novelty"] {
                let message = try outcome(rules, "PUT", "/bucket/key", [name: "1"])
                #expect(message?.contains("\(name) of PutObject") == true)
                #expect(try outcome(rules, "GET", "/bucket/key", [name: "1"]) == nil)
                #expect(try outcome(rules, "PUT", "/bucket/key?\(name)=1", [:]) != nil)
            }
            #expect(try outcome(rules, "PUT", "/bucket/key?x-id=PutObject", ["x-forwarded-for": "192.0.2.1"]) == nil)
            let known: HTTPFields = rules.rules.reduce(into: [:]) { $0.append(Self.name($1), "value") }
            #expect(try outcome(rules, "PUT", "/bucket/key", known) == nil)
        }
        // In OSS, options are header fields only; S3's presigned URLs have them in the query.
        #expect(try outcome(.oss, "PUT", "/bucket/key?x-oss-meta-a=1", [:])?.contains("x-oss-meta-a") == true)
        #expect(try outcome(.oss, "PUT", "/bucket/key?x-oss-security-token=1&x-oss-traffic-limit=1", [:]) == nil)
        #expect(try outcome(.s3, "PUT", "/bucket/key?x-amz-meta-a=1", [:]) == nil)
        #expect(
            try outcome(.s3, "PUT", "/bucket/key?X-Amz-Novelty=1&X-Amz-Date=1", [:])?.contains("x-amz-novelty") == true)
    }

    /// The options of an object that a form stores are in the form.
    @Test(arguments: [
        ("x-oss-forbid-overwrite", false), ("x-oss-meta-a", false), ("x-oss-novelty", false), ("content-md5", false),
        ("x-oss-user-agent", true), ("cache-control", true), ("x-forwarded-for", true),
    ])
    func headerOfAFormHasNoOptions(name: String, isAccepted: Bool) {
        var fields: HTTPFields = ["Content-Type": "multipart/form-data"]
        fields.append(name, "1")
        if isAccepted {
            #expect(throws: Never.self) { try RequestRules.oss.requireNoOptions(inHeaderOfForm: fields) }
        } else {
            let error = #expect(throws: StoreError.self) {
                try RequestRules.oss.requireNoOptions(inHeaderOfForm: fields)
            }
            #expect(error?.code == .notImplemented && error?.message.contains(name) == true)
        }
    }

    @Test func refusalsNameTheOperationTheFieldAndWhatHelps() throws {
        let target = try RequestTarget("/bucket/key", host: "", domains: [])
        let request = SignedRequest(method: "PUT", target: target, fields: ["x-amz-acl": "public-read"])
        let error = #expect(throws: StoreError.self) { try RequestRules.s3.check(request, .putObject) }
        let message = error?.message ?? ""
        #expect(message.contains("PutObject") && message.contains("x-amz-acl"))
        #expect(message.contains("object_store.static_keys"))
    }
}
