import AppProto
import Basics
import Database
import RPC

/// The rules for messages of members and operators.
struct CompanionInbox: Sendable {
    private static let pageSize = 100

    let database: Database
    let clock: any WallClock
    let documents: CompanionDocuments
    /// Notified at each message.
    let news: Signal
    let state: ServingState

    /// Returns messages of a member after a position, and notes that the member has received them.
    func list(_ userID: Int64, after position: Int64) async throws -> [MessageRecord] {
        try await documents.receive(userID, isReceived: false)
        let found = try await database.readPage(PageLimit(rows: Self.pageSize)) { connection, limit, last in
            try MessageRecords(connection).inbox(of: userID, after: last?.id ?? position, limit: limit)
        }.rows
        if let last = found.last(where: { !$0.isDelivered }) {
            let now = clock.now()
            try await database.write { try MessageRecords($0).markDelivered(of: userID, upTo: last.id, at: now) }
        }
        return found
    }

    /// Sends a member's messages after a position, and further ones until the call or the gateway ends.
    ///
    /// - Parameter isValid: whether the session of the call is still valid, asked before each page.
    func watch(
        _ userID: Int64, after position: Int64, isValid: () async throws -> Bool,
        _ send: (MessageRecord) async throws -> Void
    ) async throws {
        var position = position
        while true {
            // Before everything that is checked, so that a change after it is noticed: a message, or the end of the gateway.
            let notified = news.count
            guard state.isServing, try await isValid() else { return }
            let found = try await list(userID, after: position)
            for message in found {
                try await send(message)
                position = message.id
            }
            if found.isEmpty { await database.wait(for: news, after: notified) }
            try Task.checkCancellation()
        }
    }

    func announce(_ text: String, record: @escaping @Sendable (Connection) throws -> Void) async throws {
        try CompanionFields.text(text, "text", atMost: CompanionFields.longestFeedback)
        guard !text.isEmpty else { throw CompanionFields.invalid("text", "must not be empty") }
        let now = clock.now()
        try await database.write { connection in
            try MessageRecords(connection).announce(text, at: now)
            try record(connection)
        }
        news.notify()
    }

    func feedback(before position: Int64) async throws -> [FeedbackRecord] {
        // In the background, because the messages that members received are passed over.
        try await database.readInBackground {
            try MessageRecords($0).feedback(
                before: position > 0 ? position : .max, limit: PageLimit(rows: Self.pageSize)
            ).rows
        }
    }
}
