import Basics
import Database

/// A user's authenticator app, and the last code that was accepted from it.
struct SecondFactorRecord: Sendable {
    /// The shared secret, encrypted.
    let sealed: [UInt8]
    /// The time step of the last accepted code.
    let lastStep: Int64
    /// `nil` until the first code proved that the app has the secret.
    let confirmedAt: UnixTime?
}

/// The rows of second factors and recovery codes.
struct SecondFactorRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(userID: Int64) throws -> SecondFactorRecord? {
        try connection.first(
            "SELECT sealed, last_step, confirmed_at FROM second_factors WHERE user_id = $1", userID
        ) { row in
            SecondFactorRecord(
                sealed: row.blob("sealed"), lastStep: row.int64("last_step"),
                confirmedAt: row.optionalTime("confirmed_at"))
        }
    }

    func isConfirmed(userID: Int64) throws -> Bool {
        try find(userID: userID)?.confirmedAt != nil
    }

    /// Replaces the user's factor by one that is not confirmed.
    func replace(userID: Int64, sealed: [UInt8], at now: UnixTime) throws where C == Connection {
        try delete(userID: userID)
        try connection.execute(
            "INSERT INTO second_factors (user_id, sealed, last_step, created_at) VALUES ($1, $2, 0, $3)", userID,
            sealed,
            now.microseconds)
    }

    /// Records the step of an accepted code.
    func noteStep(_ step: Int64, userID: Int64) throws where C == Connection {
        try connection.execute("UPDATE second_factors SET last_step = $2 WHERE user_id = $1", userID, step)
    }

    func confirm(userID: Int64, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE second_factors SET confirmed_at = $2 WHERE user_id = $1", userID, now.microseconds)
    }

    /// Deletes the factor and the recovery codes.
    ///
    /// - Returns: whether there was a factor.
    @discardableResult
    func delete(userID: Int64) throws -> Bool where C == Connection {
        try connection.execute("DELETE FROM recovery_codes WHERE user_id = $1", userID)
        return try connection.execute("DELETE FROM second_factors WHERE user_id = $1", userID) == 1
    }

    func replaceRecoveryCodes(userID: Int64, digests: [[UInt8]]) throws where C == Connection {
        try connection.execute("DELETE FROM recovery_codes WHERE user_id = $1", userID)
        for digest in digests {
            try connection.execute("INSERT INTO recovery_codes (user_id, digest) VALUES ($1, $2)", userID, digest)
        }
    }

    /// Uses up a recovery code.
    ///
    /// - Returns: whether there was one.
    func useRecoveryCode(userID: Int64, digest: [UInt8]) throws -> Bool where C == Connection {
        try connection.execute("DELETE FROM recovery_codes WHERE user_id = $1 AND digest = $2", userID, digest) == 1
    }

    func recoveryCodesLeft(userID: Int64) throws -> Int {
        try connection.first("SELECT count(*) AS codes FROM recovery_codes WHERE user_id = $1", userID) {
            $0.int("codes")
        } ?? 0
    }
}
