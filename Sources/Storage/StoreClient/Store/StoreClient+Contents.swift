import HTTPClient
import HTTPTypes

extension StoreClient {
    /// The largest range that ``contents(_:)`` returns, in bytes.
    package static let maximumContentBytes: Int64 = 4 << 20

    /// Returns bytes of the object.
    ///
    /// - Parameter range: not empty, within the object, at most ``maximumContentBytes``.
    package func contents(_ range: Range<Int64>) async throws -> [UInt8] {
        let reply = try await send(
            "GET", [], fields: ["Range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
        guard reply.body.count == range.count, reply.status == 206 || range.lowerBound == 0 else {
            throw TransferFailure.unusable("the object store did not answer with the requested bytes")
        }
        return reply.body
    }

    /// Removes the object; one that does not exist counts as removed.
    package func delete() async throws {
        do {
            _ = try await send("DELETE", [])
        } catch let refusal as StoreRefusal where refusal.status == 404 {}
    }
}
