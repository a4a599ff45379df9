import Basics
import Database

/// The system credentials of service accounts, at most one each.
struct SystemCredentialRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func replace(
        userID: Int64, id: String, digest: [UInt8], at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO system_credentials (user_id, id, digest, created_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (user_id) DO UPDATE SET id = $2, digest = $3, created_at = $4
            """, userID, id, digest, now.microseconds)
    }

    /// Returns the credential's digest and its owner.
    func find(id: String) throws -> (digest: [UInt8], user: UserRecord)? {
        let found = try connection.first("SELECT digest, user_id FROM system_credentials WHERE id = $1", id) { row in
            (digest: row.blob("digest"), userID: row.int64("user_id"))
        }
        guard let found, let user = try UserRecords(connection).find(id: found.userID) else { return nil }
        return (found.digest, user)
    }
}
