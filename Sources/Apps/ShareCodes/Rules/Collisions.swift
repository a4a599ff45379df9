import Basics
import Database
import RPC

/// The rules of collisions: codes that an app generated and that were not unique.
struct Collisions: Sendable {
    private static let attempts = 1...100

    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    let metrics: ShareCodeMetrics

    /// Counts a collision. The code itself is not stored.
    ///
    /// - Parameter length: the length of the code according to the app.
    func record(_ code: ShareCode, attempts: Int, length: Int, for address: String) async throws {
        guard Self.attempts.contains(attempts) else { throw RPCError.invalid("attempts", "must be 1 to 100") }
        guard length == code.text.utf8.count else {
            throw RPCError.invalid("codeLength", "must be the length of shareCode, \(code.text.utf8.count)")
        }
        try limits.countCollision(of: address)
        let now = clock.now()
        try await database.write { try CollisionRecords($0).add(length: length, attempts: attempts, at: now) }
        metrics.collided(length: length)
    }
}
