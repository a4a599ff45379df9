import Basics
import Database

/// The largest number of blocked members of one member; the oldest block ends for another one.
private let mostBlocked = 1000

/// The friends of members, and those whom members have blocked.
struct FriendRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the addresses of a member's friends, the oldest friend first.
    func emails(of userID: Int64) throws -> [String] {
        try connection.query(
            """
            SELECT p.email FROM companions_friends f JOIN companions_profiles p ON p.user_id = f.friend_id
            WHERE f.user_id = $1 ORDER BY f.since, f.friend_id
            """, userID
        ) { $0.text("email") }
    }

    func areFriends(_ userID: Int64, _ friendID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM companions_friends WHERE user_id = $1 AND friend_id = $2", userID, friendID)
    }

    /// Makes two members friends; does nothing if they are.
    func befriend(_ first: Int64, _ second: Int64, at now: UnixTime) throws where C == Connection {
        for (member, friend) in [(first, second), (second, first)] {
            try connection.execute(
                """
                INSERT INTO companions_friends (user_id, friend_id, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
                """, member, friend, now.microseconds)
        }
    }

    /// Ends the friendship of two members, and blocks the second for the first.
    func block(_ userID: Int64, _ blockedID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            DELETE FROM companions_friends
            WHERE (user_id = $1 AND friend_id = $2) OR (user_id = $2 AND friend_id = $1)
            """, userID, blockedID)
        try connection.execute(
            """
            DELETE FROM companions_blocks WHERE user_id = $1 AND blocked_id NOT IN (
                SELECT blocked_id FROM companions_blocks WHERE user_id = $1 ORDER BY since DESC LIMIT $2)
            """, userID, mostBlocked - 1)
        try connection.execute(
            """
            INSERT INTO companions_blocks (user_id, blocked_id, since) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
            """, userID, blockedID, now.microseconds)
    }

    /// - Returns: whether the member had blocked the other one.
    func unblock(_ userID: Int64, _ blockedID: Int64) throws -> Bool where C == Connection {
        try connection.execute(
            "DELETE FROM companions_blocks WHERE user_id = $1 AND blocked_id = $2", userID, blockedID) > 0
    }

    /// Whether one of two members has blocked the other.
    func isBlocked(_ first: Int64, _ second: Int64) throws -> Bool {
        try connection.hasRow(
            """
            SELECT 1 FROM companions_blocks
            WHERE (user_id = $1 AND blocked_id = $2) OR (user_id = $2 AND blocked_id = $1) LIMIT 1
            """, first, second)
    }

    func blockedEmails(of userID: Int64) throws -> [String] {
        try connection.query(
            """
            SELECT p.email FROM companions_blocks b JOIN companions_profiles p ON p.user_id = b.blocked_id
            WHERE b.user_id = $1 ORDER BY b.since, b.blocked_id
            """, userID
        ) { $0.text("email") }
    }
}
