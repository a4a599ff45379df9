import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct OperationRuleTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../docs/object-store.md")
    private static let dialects: [any StoreDialect] = [S3Dialect(publicAuthority: nil), OSSDialect()]

    /// Returns the row of the documentation's table for an operation.
    private func line(_ rule: OperationRule) -> String {
        let form = rule.form
        var request = "\(form.method) of the \(form.scope.rawValue)"
        if !form.parameters.isEmpty { request += " `?\(form.parameters.sorted().joined(separator: "&"))`" }
        if form.source == .required { request += " with a source" }
        let signers = rule.isOfTemporaryCredentials ? "static keys, temporary credentials" : "static keys"
        let repeats = rule.isIdempotent ? "yes" : "no"
        return "| \(rule.name.rawValue) | \(request) | \(rule.needs.rawValue) | \(signers) | \(repeats) |"
    }

    @Test func documentationListsEachOperation() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Operations\n").last)
        let rows = section.split(separator: "\n## ", maxSplits: 1)[0].split(separator: "\n").filter {
            $0.hasPrefix("| ") && !$0.hasPrefix("| Operation ")
        }
        #expect(rows.map(String.init) == OperationRule.table.map(line))
    }

    @Test func eachNameHasARule() {
        #expect(Set(OperationRule.table.map(\.name)) == Set(OperationName.allCases))
    }

    /// Returns the request of a rule.
    private func request(_ rule: OperationRule, _ dialect: any StoreDialect) throws -> SignedRequest {
        let path = ["service": "/", "bucket": "/bucket", "object": "/bucket/key"][rule.form.scope.rawValue] ?? ""
        let values = ["partNumber": "1", "uploadId": "ID", "position": "0"]
        let query = rule.form.parameters.sorted().map { "\($0)=\(values[$0] ?? "")" }.joined(separator: "&")
        let target = try RequestTarget("\(path)?\(query)", host: "", domains: [])
        let fields: HTTPFields = rule.form.source == .required ? [dialect.names.copySource: "/bucket/source"] : [:]
        return SignedRequest(method: rule.form.method, target: target, fields: fields)
    }

    @Test(arguments: OperationRule.table.indices) func requestHasOneOperation(_ index: Int) throws {
        let rule = OperationRule.table[index]
        var found = 0
        for dialect in Self.dialects {
            do {
                let operation = try dialect.operation(of: request(rule, dialect))
                #expect(operation.name == rule.name)
                found += 1
            } catch let error as StoreError {
                // The other protocol has the operation.
                #expect(error.code == .notImplemented)
                #expect(error.message.contains("\(rule.name.rawValue) (") && error.message.contains("in this protocol"))
            }
        }
        #expect(found > 0)
        let others = OperationRule.table.filter { other in
            other.form.method == rule.form.method && other.form.scope == rule.form.scope
                && other.form.parameters == rule.form.parameters && other.form.source == rule.form.source
        }
        #expect(others.count == 1)
    }

    /// Without the sub-resource, the request would delete or replace the object.
    @Test(arguments: ["DELETE", "PUT", "POST", "GET", "HEAD"]) func subresourceOfTheOtherProtocolIsRefused(
        _ method: String
    ) throws {
        for (dialect, name) in zip(Self.dialects, ["symlink", "legal-hold"]) {
            let target = try RequestTarget("/bucket/key?\(name)", host: "", domains: [])
            let request = SignedRequest(method: method, target: target, fields: [:])
            let error = #expect(throws: StoreError.self) { try dialect.operation(of: request) }
            #expect(error?.code == .notImplemented)
        }
    }
}
