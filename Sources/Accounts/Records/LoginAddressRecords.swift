import Basics
import Database
import HTTPTypes

private let maximumOfUser = 16

/// The latest addresses from which each user signed in; attacks on an account do not affect logins from them.
struct LoginAddressRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// - Parameter address: normalized by `AddressRange.countedAsOne`.
    func contain(_ address: String, userID: Int64) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM login_addresses WHERE user_id = $1 AND address = $2", userID, address)
    }

    func note(_ address: String, userID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO login_addresses (user_id, address, last_login_at) VALUES ($1, $2, $3)
            ON CONFLICT (user_id, address) DO UPDATE SET last_login_at = excluded.last_login_at
            """, userID, address, now.microseconds)
        try connection.execute(
            """
            DELETE FROM login_addresses WHERE user_id = $1 AND address NOT IN (
                SELECT address FROM login_addresses WHERE user_id = $1 ORDER BY last_login_at DESC, address LIMIT $2
            )
            """, userID, maximumOfUser)
    }
}
