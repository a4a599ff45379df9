import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct RequestRulesTests {
    /// One request, of its own operation, that names what a rule is about.
    private struct Case {
        let method: String
        let query: String
        let fields: HTTPFields
        let operation: StoreOperation

        init(_ operation: StoreOperation, _ method: String, _ name: String, _ value: String, inQuery: Bool = false)
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

    /// Every line of a table does what it says, in a field and in the query of a presigned URL.
    private func eachRuleHolds(_ rules: RequestRules) throws {
        for rule in rules.rules {
            let name = Self.name(rule)
            for inQuery in [false, true] {
                func outcome(_ operation: StoreOperation, _ method: String, _ value: String) throws -> StoreError.Code?
                {
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
                    #expect(put == (operations.contains("PutObject") ? nil : .notImplemented), "\(name)")
                    let part = StoreOperation.uploadPart(1, multipartID: "id")
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

    /// A longer name has a line of its own beside the one of its beginning.
    @Test func exactNamesGoBeforeBeginnings() {
        #expect(RequestRules.s3.rule(for: "x-amz-checksum-mode")?.name == "x-amz-checksum-mode")
        #expect(RequestRules.s3.rule(for: "x-amz-checksum-crc32")?.name == "x-amz-checksum-*")
        #expect(RequestRules.s3.rule(for: "x-amz-date") == nil)
        #expect(RequestRules.oss.rule(for: "x-oss-server-side-encryption-key-id")?.name == "x-oss-server-side-*")
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
