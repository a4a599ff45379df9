import Basics
import Crypto
import Database

/// The profile of a user.
struct ProfileRecord: Sendable, Hashable {
    enum Status: String, Sendable {
        case active = "ACTIVE"
        case disabled = "DISABLED"
    }

    let userID: Int64
    /// The id that clients see.
    let publicID: String
    /// The address at the first sign-in; never changed.
    let email: String?
    var nickname: String?
    var avatarURL: String?
    var status: Status
    var isOnboarded: Bool
    let createdAt: UnixTime
}

private let columns =
    "user_id, public_id, email, nickname, avatar_url, status, onboarding_completed, created_at"

/// The profiles of users.
struct ProfileRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(userID: Int64) throws -> ProfileRecord? {
        try connection.first(
            "SELECT \(columns) FROM sign_in_profiles WHERE user_id = $1", userID, row: Self.record)
    }

    func find(publicID: String) throws -> ProfileRecord? {
        try connection.first(
            "SELECT \(columns) FROM sign_in_profiles WHERE public_id = $1", publicID, row: Self.record)
    }

    /// Returns the profile of a user, and makes it if it does not exist.
    func findOrInsert(userID: Int64, email: String?, nickname: String?, at now: UnixTime) throws -> ProfileRecord?
    where C == Connection {
        if let known = try find(userID: userID) { return known }
        try connection.execute(
            """
            INSERT INTO sign_in_profiles
                (user_id, public_id, email, nickname, status, onboarding_completed, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, 0, $6, $6)
            """, userID, "user_" + Random.hex(12), email, nickname,
            ProfileRecord.Status.active.rawValue, now.microseconds)
        return try find(userID: userID)
    }

    /// Stores what may change of a profile.
    func update(_ profile: ProfileRecord, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE sign_in_profiles
            SET nickname = $2, avatar_url = $3, status = $4, onboarding_completed = $5, updated_at = $6
            WHERE user_id = $1
            """, profile.userID, profile.nickname, profile.avatarURL, profile.status.rawValue,
            profile.isOnboarded ? 1 : 0, now.microseconds)
    }

    private static func record(_ row: Row) -> ProfileRecord {
        ProfileRecord(
            userID: row.int64("user_id"), publicID: row.text("public_id"), email: row.optionalText("email"),
            nickname: row.optionalText("nickname"), avatarURL: row.optionalText("avatar_url"),
            status: ProfileRecord.Status(rawValue: row.text("status")) ?? .disabled,
            isOnboarded: row.bool("onboarding_completed"), createdAt: row.time("created_at"))
    }
}
