import Accounts
import Basics
import Database
import GatewayAPI
import RPC

/// The rules of dead letters: listing, and sending them again.
struct DeadLetters: Sendable {
    let database: Database
    let clock: any WallClock
    /// The names of the configured webhooks.
    let webhooks: Set<String>
    /// The signals of the senders.
    let signals: [Signal]

    /// Returns a page. One payload has at most 256 tags of 2 KiB.
    ///
    /// - Parameters:
    ///   - webhook: empty = all.
    ///   - cursor: the cursor of the entry after which the page begins; empty = from the first one on.
    ///   - scope: the events' organization; `nil` = any.
    func page(
        of webhook: String, after cursor: String, limit: PageLimit, scope: Int64?
    ) async throws -> PageRows<DeadLetterRecord> {
        // In the background, because an organization may have few of many.
        try await database.readInBackground { connection in
            try EventRecords(connection).deadLetters(scope: scope, webhook: webhook, after: cursor, limit: limit)
        }
    }

    /// - Returns: the webhooks to which the event will be sent.
    func redeliver(_ eventID: String, to webhook: String, by caller: Caller) async throws -> [String] {
        let now = clock.now()
        return try await database.write { [webhooks, signals] connection in
            let records = EventRecords(connection)
            let letters = try records.deadLetters(of: eventID, scope: caller.user.objectScope, webhook: webhook)
            guard !letters.isEmpty else {
                throw RPCError.notFound(
                    "event \(eventID) is not a dead letter" + (webhook.isEmpty ? "" : " of webhook \(webhook)"))
            }
            if let removed = letters.map(\.webhook).first(where: { !webhooks.contains($0) }) {
                throw RPCError.failedPrecondition("webhook \(removed) is not configured")
            }
            for letter in letters { try records.revive(letter, at: now) }
            try Audit.record(caller.did(to: "events/\(eventID)"), at: now, in: connection)
            connection.afterCommit {
                for signal in signals { signal.notify() }
            }
            return letters.map(\.webhook)
        }
    }
}
