import Basics
import Database

/// A message in a member's inbox.
struct MessageRecord: Sendable, Hashable {
    let id: Int64
    /// Whether the member wrote it to the operators.
    let isUser: Bool
    let body: String
    let sentAt: UnixTime
    /// Whether the member's phone has received it.
    let isDelivered: Bool
    let isRead: Bool
}

/// A message of a member to the operators.
struct FeedbackRecord: Sendable, Hashable {
    let id: Int64
    let email: String
    let body: String
    let sentAt: UnixTime
}

/// The largest numbers of messages to one member, and of messages of one to the operators; the oldest go for new ones.
private let mostOfKind = 100
private let mostAnnouncements = 20
private let columns = "id, is_user, body, sent_at, delivered_at, read_at"

/// The messages of members, and announcements to all.
struct MessageRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the messages in a member's inbox, the oldest first.
    ///
    /// - Parameter position: the id behind which they begin.
    func inbox(
        of userID: Int64, after position: Int64 = 0, limit: PageLimit = PageLimit(rows: 1000)
    ) throws -> PageRows<MessageRecord> {
        try connection.page(
            limit,
            """
            SELECT \(columns) FROM companions_messages
            WHERE user_id = $1 AND id > $2 AND cleared_at IS NULL ORDER BY id LIMIT $3
            """, userID, position, limit.statementRows, row: Self.record)
    }

    /// Adds a message to a member's inbox.
    func insert(_ body: String, to userID: Int64, at now: UnixTime) throws where C == Connection {
        try insert(body, of: userID, isUser: false, deliveredAt: nil, at: now)
    }

    /// Adds a message of a member to the operators. The member's phone has it already.
    func insertFeedback(_ body: String, of userID: Int64, at now: UnixTime) throws where C == Connection {
        try insert(body, of: userID, isUser: true, deliveredAt: now, at: now)
    }

    private func insert(
        _ body: String, of userID: Int64, isUser: Bool, deliveredAt: UnixTime?, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            DELETE FROM companions_messages WHERE user_id = $1 AND is_user = $2 AND id NOT IN (
                SELECT id FROM companions_messages WHERE user_id = $1 AND is_user = $2 ORDER BY id DESC LIMIT $3)
            """, userID, isUser, mostOfKind - 1)
        try connection.execute(
            """
            INSERT INTO companions_messages (user_id, is_user, body, sent_at, delivered_at) VALUES ($1, $2, $3, $4, $5)
            """, userID, isUser, body, now.microseconds, deliveredAt?.microseconds)
    }

    func hasUndelivered(_ userID: Int64) throws -> Bool {
        try connection.hasRow(
            """
            SELECT 1 FROM companions_messages
            WHERE user_id = $1 AND cleared_at IS NULL AND delivered_at IS NULL LIMIT 1
            """, userID)
    }

    /// - Parameter position: the last message that was delivered; later ones stay as they are.
    func markDelivered(of userID: Int64, upTo position: Int64 = .max, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE companions_messages SET delivered_at = $3
            WHERE user_id = $1 AND id <= $2 AND cleared_at IS NULL AND delivered_at IS NULL
            """, userID, position, now.microseconds)
    }

    func markRead(_ ids: [Int64], of userID: Int64, at now: UnixTime) throws where C == Connection {
        for id in ids {
            try connection.execute(
                "UPDATE companions_messages SET read_at = $3 WHERE id = $1 AND user_id = $2 AND read_at IS NULL", id,
                userID, now.microseconds)
        }
    }

    /// Removes messages from a member's inbox. What the member wrote stays for the operators.
    func clear(_ ids: [Int64], of userID: Int64, at now: UnixTime) throws where C == Connection {
        for id in ids {
            try connection.execute(
                "DELETE FROM companions_messages WHERE id = $1 AND user_id = $2 AND is_user = 0", id, userID)
            try connection.execute(
                "UPDATE companions_messages SET cleared_at = $3 WHERE id = $1 AND user_id = $2", id, userID,
                now.microseconds)
        }
    }

    /// Returns a page of what members wrote, the newest first.
    func feedback(before position: Int64, limit: PageLimit) throws -> PageRows<FeedbackRecord> {
        try connection.page(
            limit,
            """
            SELECT m.id, m.body, m.sent_at, p.email
            FROM companions_messages m JOIN companions_profiles p ON p.user_id = m.user_id
            WHERE m.is_user = 1 AND m.id < $1 ORDER BY m.id DESC LIMIT $2
            """, position, limit.statementRows
        ) {
            FeedbackRecord(
                id: $0.int64("id"), email: $0.text("email"), body: $0.text("body"), sentAt: $0.time("sent_at"))
        }
    }

    /// Adds an announcement, and removes the oldest beyond the limit.
    func announce(_ body: String, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO companions_announcements (body, sent_at) VALUES ($1, $2)", body, now.microseconds)
        try connection.execute(
            """
            DELETE FROM companions_announcements WHERE id NOT IN (
                SELECT id FROM companions_announcements ORDER BY id DESC LIMIT $1)
            """, mostAnnouncements)
    }

    /// Returns announcements after the one of that id, the oldest first.
    func announcements(after id: Int64) throws -> [(id: Int64, body: String, sentAt: UnixTime)] {
        try connection.query(
            "SELECT id, body, sent_at FROM companions_announcements WHERE id > $1 ORDER BY id", id
        ) { ($0.int64("id"), $0.text("body"), $0.time("sent_at")) }
    }

    /// Returns the id of the last announcement; 0 without announcements.
    func lastAnnouncement() throws -> Int64 {
        try connection.first("SELECT max(id) AS last FROM companions_announcements") { $0.optionalInt64("last") ?? 0 }
            ?? 0
    }

    private static func record(_ row: Row) -> MessageRecord {
        MessageRecord(
            id: row.int64("id"), isUser: row.bool("is_user"), body: row.text("body"), sentAt: row.time("sent_at"),
            isDelivered: !row.isNull("delivered_at"), isRead: !row.isNull("read_at"))
    }
}
