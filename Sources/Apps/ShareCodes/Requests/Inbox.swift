import Basics
import Database
import GatewayAPI
import RPC

/// The rules of lists of received requests.
struct Inbox: Sendable {
    private static let pageSize = 50

    let database: Database
    let clock: any WallClock
    let contents: SealedContents
    let tokens: PageTokens
    let waits: InboxWaits
    /// The time by which waits end, which no set clock changes.
    let monotonicTime: @Sendable () -> ContinuousClock.Instant

    /// A received request.
    struct Item: Sendable, Hashable {
        let id: String
        let sender: String
        let message: String
        /// The state before it was listed.
        let state: StatusRequestState
        let createdAt: UnixTime
    }

    /// Returns the owner of the cursors of a umid's lists.
    static func scope(_ umid: String) -> String { "share code inbox|\(umid)" }

    /// Lists requests to a umid, and marks them as delivered. Without a request, waits for one as long as the query says, unless too
    /// many calls wait already or the gateway stops.
    ///
    /// - Parameter address: the caller's address, as limits count it.
    /// - Returns: the requests, and the cursor after the last one.
    func list(_ query: InboxQuery, of umid: String, for address: String) async throws -> (items: [Item], cursor: String)
    {
        let wait = query.wait > .zero ? waits.enter(umid, for: address) : nil
        defer { if let wait { waits.leave(wait) } }
        let end = monotonicTime() + query.wait
        while true {
            // Before the read, so that a request that comes after it is noticed.
            let notified = wait?.signal.count ?? 0
            let found = try await page(query, of: umid)
            let left = end - monotonicTime()
            guard found.isEmpty, let wait, left > .zero, !waits.hasEnded else {
                return try (found.map(item), cursor(after: found.last?.position ?? query.position, of: umid))
            }
            await database.wait(for: wait.signal, after: notified, atMost: left)
            try Task.checkCancellation()
        }
    }

    private func page(_ query: InboxQuery, of umid: String) async throws -> [StatusRequestRecord] {
        let now = clock.now()
        let found = try await database.read {
            try StatusRequestRecords($0).inbox(
                of: umid, after: query.position, onlyNew: query.onlyNew, at: now, limit: Self.pageSize)
        }
        let new = found.filter { $0.storedState == .pending }.map(\.position)
        // A write would commit although it changes nothing.
        guard !new.isEmpty else { return found }
        try await database.write { try StatusRequestRecords($0).markDelivered(new, at: now) }
        return found
    }

    private func item(_ record: StatusRequestRecord) throws -> Item {
        Item(
            id: record.id, sender: record.sender,
            message: try record.message.map { try contents.open($0, in: .message(requestID: record.id)) } ?? "",
            state: record.storedState, createdAt: record.createdAt)
    }

    private func cursor(after position: Int64, of umid: String) -> String {
        tokens.seal(String(position), scope: Self.scope(umid))
    }
}

/// The parameters of a list of received requests.
struct InboxQuery: Sendable {
    private static let longestWait: Int32 = 50

    /// Whether only requests that were never delivered are listed.
    let onlyNew: Bool
    /// The position of the last request that the app has; 0 = none.
    let position: Int64
    /// The longest time to wait for a request while the inbox is empty.
    let wait: Duration

    /// - Parameters:
    ///   - status: empty, or `pending`.
    ///   - cursor: the cursor of an earlier list; empty = none.
    ///   - wait: in seconds, 0 to 50.
    ///   - scope: the owner of the cursor.
    init(status: String, cursor: String, wait: Int32, tokens: PageTokens, scope: String) throws(RPCError) {
        guard status.isEmpty || status == StatusRequestState.pending.rawValue else {
            throw .invalid("status", "must be pending, or omitted for all requests that are not answered")
        }
        guard (0...Self.longestWait).contains(wait) else {
            throw .invalid("wait", "must be 0 to \(Self.longestWait) seconds")
        }
        var position: Int64 = 0
        if !cursor.isEmpty {
            guard let text = tokens.open(cursor, scope: scope), let number = Int64(text) else {
                throw .invalid("after", "must be a cursor of this inbox")
            }
            position = number
        }
        // An app that names what it has may have missed a later response, so delivered requests are listed again.
        onlyNew = !status.isEmpty && cursor.isEmpty
        self.position = position
        self.wait = .seconds(Int64(wait))
    }
}
