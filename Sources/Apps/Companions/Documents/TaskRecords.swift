import Basics
import Database

/// A task of a match, as its member has it.
struct TaskRecord: Sendable, Hashable {
    let matchID: Int64
    let ordinal: Int
    let name: String
    /// The number of the plan.
    let plan: Int32
    let partnerID: Int64
    /// The partner's address.
    let partnerEmail: String
    var isFinished: Bool
    var comment: String
}

/// A task that only its member sees.
struct PrivateTaskRecord: Sendable, Hashable {
    let name: String
    let number: Int32
    let isFinished: Bool
}

/// The tasks of members.
struct TaskRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func all(of userID: Int64) throws -> [TaskRecord] {
        try connection.query(
            """
            SELECT t.match_id, t.ordinal, t.name, t.finished_at, t.comment, m.plan, p.user_id, p.email
            FROM companions_tasks t JOIN companions_matches m ON m.id = t.match_id
                JOIN companions_profiles p
                    ON p.user_id = CASE m.first_id WHEN t.user_id THEN m.second_id ELSE m.first_id END
            WHERE t.user_id = $1 ORDER BY t.match_id, t.ordinal
            """, userID
        ) {
            TaskRecord(
                matchID: $0.int64("match_id"), ordinal: $0.int("ordinal"), name: $0.text("name"),
                plan: Int32(clamping: $0.int64("plan")), partnerID: $0.int64("user_id"), partnerEmail: $0.text("email"),
                isFinished: !$0.isNull("finished_at"), comment: $0.text("comment"))
        }
    }

    /// Replaces all tasks of a member by those of a new match.
    func replace(of userID: Int64, matchID: Int64, names: [String]) throws where C == Connection {
        try connection.execute("DELETE FROM companions_tasks WHERE user_id = $1", userID)
        for (ordinal, name) in names.enumerated() {
            try connection.execute(
                """
                INSERT INTO companions_tasks (user_id, match_id, ordinal, name, comment) VALUES ($1, $2, $3, $4, '')
                """, userID, matchID, ordinal, name)
        }
    }

    /// Stores the state and the comment of a task.
    func update(_ task: TaskRecord, of userID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE companions_tasks SET comment = $4,
                finished_at = CASE WHEN CAST($5 AS BIGINT) = 1 THEN coalesce(finished_at, $6) ELSE NULL END
            WHERE user_id = $1 AND match_id = $2 AND ordinal = $3
            """, userID, task.matchID, task.ordinal, task.comment, task.isFinished, now.microseconds)
    }

    /// Removes the tasks of both members of a match.
    func remove(matchID: Int64) throws where C == Connection {
        try connection.execute("DELETE FROM companions_tasks WHERE match_id = $1", matchID)
    }

    func hasUnfinished(matchID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM companions_tasks WHERE match_id = $1 AND finished_at IS NULL LIMIT 1", matchID)
    }

    func privateTasks(of userID: Int64) throws -> [PrivateTaskRecord] {
        try connection.query(
            """
            SELECT name, number, is_finished FROM companions_private_tasks WHERE user_id = $1 ORDER BY ordinal
            """, userID
        ) {
            PrivateTaskRecord(
                name: $0.text("name"), number: Int32(clamping: $0.int64("number")), isFinished: $0.bool("is_finished"))
        }
    }

    func replacePrivateTasks(of userID: Int64, _ tasks: [PrivateTaskRecord]) throws where C == Connection {
        try connection.execute("DELETE FROM companions_private_tasks WHERE user_id = $1", userID)
        for (ordinal, task) in tasks.enumerated() {
            try connection.execute(
                """
                INSERT INTO companions_private_tasks (user_id, ordinal, name, number, is_finished)
                VALUES ($1, $2, $3, $4, $5)
                """, userID, ordinal, task.name, Int64(task.number), task.isFinished)
        }
    }
}
