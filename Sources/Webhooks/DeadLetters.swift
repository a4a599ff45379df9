import Accounts
import Basics
import Database
import GatewayAPI
import RPC

/// The rules of dead letters: listing, and sending them again.
struct DeadLetters: Sendable {
    /// The largest number of payload bytes in one page. One payload has at most 256 tags of 2 KiB.
    private static let pageBytes = 1 << 20
    /// The number of dead letters that are read beyond a page.
    private static let batch = 16

    let database: Database
    let clock: any WallClock
    /// The names of the configured webhooks.
    let webhooks: Set<String>
    /// The signals of the senders.
    let signals: [Signal]

    /// Returns a page, limited by the number of entries and by the bytes that fit into a client's message.
    ///
    /// - Parameters:
    ///   - webhook: empty = all.
    ///   - scope: the events' organization; `nil` = any.
    /// - Returns: at least one entry, if there is any; and whether it is the last page.
    func page(
        of webhook: String, after cursor: String, limit: Int, scope: Int64?
    ) async throws -> (letters: [DeadLetterRecord], isLast: Bool) {
        try await database.read { connection in
            var letters: [DeadLetterRecord] = []
            var bytes = 0
            while true {
                let batch = try EventRecords(connection).deadLetters(
                    scope: scope, webhook: webhook, after: letters.last?.cursor ?? cursor, limit: Self.batch)
                for letter in batch {
                    bytes += letter.payload.utf8.count
                    guard letters.isEmpty || (letters.count < limit && bytes <= Self.pageBytes) else {
                        return (letters, false)
                    }
                    letters.append(letter)
                }
                if batch.count < Self.batch { return (letters, true) }
            }
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
            if let gone = letters.map(\.webhook).first(where: { !webhooks.contains($0) }) {
                throw RPCError.failedPrecondition("webhook \(gone) is not configured")
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
