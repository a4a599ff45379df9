import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct UnsupportedOperationTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../docs/object-store.md")

    private func request(_ operation: UnsupportedOperation) throws -> SignedRequest {
        let path = operation.resource == .bucket ? "/bucket" : "/bucket/k"
        let target = try RequestTarget("\(path)?\(operation.subresource)", host: "", domains: [])
        return SignedRequest(method: operation.method, target: target, fields: [:])
    }

    /// Returns the refusal by a dialect; `nil` if the dialect takes the request for another operation.
    private func refusal(of operation: UnsupportedOperation, by dialect: some StoreDialect) throws -> StoreError? {
        do {
            _ = try dialect.operation(of: request(operation))
            return nil
        } catch let error as StoreError {
            return error
        }
    }

    @Test(arguments: UnsupportedOperation.all)
    func operationIsRefusedByItsName(operation: UnsupportedOperation) throws {
        let refusals = try [
            refusal(of: operation, by: S3Dialect(publicAuthority: nil)), refusal(of: operation, by: OSSDialect()),
        ].compactMap(\.self)
        #expect(refusals.allSatisfy { $0.code == .notImplemented })
        // The other protocol may not know the parameter.
        #expect(refusals.contains { $0.message.contains("implement \(operation.name) (") })
    }

    @Test func documentationListsEachOperation() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## What the store does not have\n").last)
        let table = section.split(separator: "\n## ", maxSplits: 1)[0]
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `?") }
        let listed = rows.flatMap { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells[1].split(separator: ", ").map { "\(cells[0].filter { $0 != "`" }) \($0)" }
        }
        let known = UnsupportedOperation.all.map { "?\($0.subresource) \($0.name)" }
        #expect(Set(listed) == Set(known))
        #expect(listed.count == known.count)
    }
}
