import Accounts
import Database
import Platform
import RPC

/// The rules of dead letters: what an admin sees of them, and how they are sent again.
struct DeadLetters: Sendable {
    let database: Database
    let clock: any WallClock
    /// Those that are configured.
    let webhooks: Set<String>
    /// Of those who send.
    let bells: [Bell]

    /// A page, and one more where there is one.
    ///
    /// - Parameter webhook: empty = all.
    func page(
        of webhook: String, after cursor: String, limit: Int, for caller: Caller
    ) throws -> [DeadLetterRecord] {
        try database.read {
            try EventRecords($0).deadLetters(
                scope: caller.user.objectScope, webhook: webhook, after: cursor, limit: limit)
        }
    }

    /// - Returns: the webhooks to which it will be sent.
    func redeliver(_ eventID: String, to webhook: String, by caller: Caller) async throws -> [String] {
        let now = clock.now()
        let receivers = try await database.write { [webhooks] connection in
            let records = EventRecords(connection)
            let letters = try records.deadLetters(of: eventID, scope: caller.user.objectScope, webhook: webhook)
            guard !letters.isEmpty else {
                throw RPCError.notFound(
                    "event \(eventID) is no dead letter" + (webhook.isEmpty ? "" : " of webhook \(webhook)"))
            }
            if let gone = letters.map(\.webhook).first(where: { !webhooks.contains($0) }) {
                throw RPCError.failedPrecondition("no webhook \(gone) is configured")
            }
            for letter in letters { try records.revive(letter, at: now) }
            try Audit.record(caller.did(to: "events/\(eventID)"), at: now, in: connection)
            return letters.map(\.webhook)
        }
        for bell in bells { bell.ring() }
        return receivers
    }
}
