import Basics
import Database

/// The SQL of the counts of codes that were not unique.
struct CollisionRecords {
    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts one event on the day of `now`.
    func add(length: Int, attempts: Int, at now: UnixTime) throws {
        try connection.execute(
            """
            INSERT INTO collisions (day, code_length, events, attempts) VALUES ($1, $2, 1, $3)
            ON CONFLICT (day, code_length) DO UPDATE SET
                events = collisions.events + 1, attempts = collisions.attempts + $3
            """, now.seconds / 86_400, length, attempts)
    }
}
