import Basics
import Database

private let sweepBatch = 500

/// A member's side of a match that has not ended.
struct MatchSide: Sendable, Hashable {
    let matchID: Int64
    let plan: Int32
    /// The plan's title when the match was made.
    let title: String
    let partnerID: Int64
    let wasReported: Bool
}

/// The queue of members who wait for a partner, and the matches of two members.
struct MatchRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the plan for which a member waits; `nil` = none.
    func waits(_ userID: Int64) throws -> Int32? {
        try connection.first("SELECT plan FROM companions_queue WHERE user_id = $1", userID) {
            Int32(clamping: $0.int64("plan"))
        }
    }

    func enqueue(_ userID: Int64, plan: Int32, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO companions_queue (user_id, plan, since) VALUES ($1, $2, $3)", userID, Int64(plan),
            now.microseconds)
    }

    /// - Returns: whether the member waited.
    @discardableResult
    func dequeue(_ userID: Int64) throws -> Bool where C == Connection {
        try connection.execute("DELETE FROM companions_queue WHERE user_id = $1", userID) > 0
    }

    /// Returns the member who has waited longest for a partner in a plan, and who can be matched with `userID`: neither has blocked
    /// the other, and they were not matched after `time`.
    func longestWaiting(for plan: Int32, besides userID: Int64, notMatchedSince time: UnixTime) throws -> Int64? {
        try connection.first(
            """
            SELECT q.user_id FROM companions_queue q JOIN companions_profiles p ON p.user_id = q.user_id
            WHERE q.plan = $1 AND q.user_id <> $2 AND p.is_willing = 1
                AND NOT EXISTS (SELECT 1 FROM companions_blocks b WHERE b.user_id = $2 AND b.blocked_id = q.user_id)
                AND NOT EXISTS (SELECT 1 FROM companions_blocks b WHERE b.user_id = q.user_id AND b.blocked_id = $2)
                AND NOT EXISTS (SELECT 1 FROM companions_matches m
                    WHERE m.first_id = $2 AND m.second_id = q.user_id AND m.made_at > $3)
                AND NOT EXISTS (SELECT 1 FROM companions_matches m
                    WHERE m.first_id = q.user_id AND m.second_id = $2 AND m.made_at > $3)
            ORDER BY q.since, q.user_id LIMIT 1
            """, Int64(plan), userID, time.microseconds
        ) { $0.int64("user_id") }
    }

    func side(of userID: Int64) throws -> MatchSide? {
        try connection.first(
            """
            SELECT s.match_id, s.partner_id, s.told_at, m.plan, m.title
            FROM companions_partners s JOIN companions_matches m ON m.id = s.match_id WHERE s.user_id = $1
            """, userID
        ) {
            MatchSide(
                matchID: $0.int64("match_id"), plan: Int32(clamping: $0.int64("plan")), title: $0.text("title"),
                partnerID: $0.int64("partner_id"), wasReported: !$0.isNull("told_at"))
        }
    }

    /// Makes a match with both sides.
    ///
    /// - Returns: its id.
    func insert(plan: Int32, title: String, _ first: Int64, _ second: Int64, at now: UnixTime) throws -> Int64
    where C == Connection {
        let id = try connection.first(
            """
            INSERT INTO companions_matches (plan, title, first_id, second_id, made_at) VALUES ($1, $2, $3, $4, $5)
            RETURNING id
            """, Int64(plan), title, first, second, now.microseconds
        ) { $0.int64("id") }
        guard let id else { throw DatabaseError.misuse("a match was not inserted") }
        for (member, partner) in [(first, second), (second, first)] {
            try connection.execute(
                "INSERT INTO companions_partners (user_id, match_id, partner_id) VALUES ($1, $2, $3)", member, id,
                partner)
        }
        return id
    }

    /// - Returns: whether the member's side of the match was not told before.
    func markReported(_ userID: Int64, at now: UnixTime) throws -> Bool where C == Connection {
        try connection.execute(
            "UPDATE companions_partners SET told_at = $2 WHERE user_id = $1 AND told_at IS NULL", userID,
            now.microseconds) > 0
    }

    /// Ends a match for both sides; its row stays.
    func end(_ matchID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE companions_matches SET ended_at = $2 WHERE id = $1", matchID, now.microseconds)
        try connection.execute("DELETE FROM companions_partners WHERE match_id = $1", matchID)
    }

    func hasQueued(before time: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM companions_queue WHERE since <= $1 ORDER BY since LIMIT 1", time.microseconds)
    }

    /// Removes members who have waited since before `time`, a limited number at once.
    ///
    /// - Returns: the members, with their plans.
    func removeQueued(before time: UnixTime) throws -> [(userID: Int64, plan: Int32)] where C == Connection {
        try connection.query(
            """
            DELETE FROM companions_queue WHERE user_id IN (
                SELECT user_id FROM companions_queue WHERE since <= $1 ORDER BY since LIMIT $2) RETURNING user_id, plan
            """, time.microseconds, sweepBatch
        ) { ($0.int64("user_id"), Int32(clamping: $0.int64("plan"))) }
    }

    func hasEnded(before time: UnixTime) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM companions_matches WHERE ended_at <= $1 ORDER BY ended_at LIMIT 1", time.microseconds)
    }

    /// Removes matches that ended before `time` with their tasks, a limited number at once.
    func removeEnded(before time: UnixTime) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM companions_matches WHERE id IN (
                SELECT id FROM companions_matches WHERE ended_at <= $1 ORDER BY ended_at LIMIT $2)
            """, time.microseconds, sweepBatch)
    }

    /// Returns the numbers of members who wait, and of matches that have not ended.
    func counts() throws -> (waiting: Int, matches: Int) {
        let waiting = try connection.first("SELECT count(*) AS count FROM companions_queue") { $0.int("count") }
        let sides = try connection.first("SELECT count(*) AS count FROM companions_partners") { $0.int("count") }
        return (waiting ?? 0, (sides ?? 0) / 2)
    }
}
