import Basics
import Database

private let select = """
    SELECT p.user_id, p.email, p.username, p.mobile, p.age, p.bio, p.constellation, p.blood, p.birthday, p.sex,
        p.is_willing, p.shares_mobile, p.announced, p.created_at, i.name AS picture
    FROM companions_profiles p LEFT JOIN companions_pictures i ON i.user_id = p.user_id
    """

/// The profiles and pictures of members.
struct MemberProfileRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(_ userID: Int64) throws -> MemberProfile? {
        try connection.first("\(select) WHERE p.user_id = $1", userID, row: Self.record)
    }

    func count() throws -> Int {
        try connection.first("SELECT count(*) AS members FROM companions_profiles") { $0.int("members") } ?? 0
    }

    func insert(_ profile: MemberProfile) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO companions_profiles (user_id, email, username, mobile, age, bio, constellation, blood, birthday,
                sex, is_willing, shares_mobile, announced, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            """, profile.userID, profile.email, profile.username, profile.mobile, profile.age, profile.bio,
            profile.constellation, profile.blood, profile.birthday, profile.sex, profile.isWilling,
            profile.sharesMobile, profile.announced, profile.createdAt.microseconds)
    }

    /// Stores what may change, except the picture.
    func update(_ profile: MemberProfile) throws where C == Connection {
        try connection.execute(
            """
            UPDATE companions_profiles SET username = $2, mobile = $3, age = $4, bio = $5, constellation = $6,
                blood = $7, birthday = $8, sex = $9, is_willing = $10, shares_mobile = $11, announced = $12
            WHERE user_id = $1
            """, profile.userID, profile.username, profile.mobile, profile.age, profile.bio, profile.constellation,
            profile.blood, profile.birthday, profile.sex, profile.isWilling, profile.sharesMobile, profile.announced)
    }

    /// Replaces the picture of a member.
    func setPicture(_ picture: StoredPicture, of userID: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO companions_pictures (user_id, name, content_type, content) VALUES ($1, $2, $3, $4)
            ON CONFLICT (user_id) DO UPDATE SET name = $2, content_type = $3, content = $4
            """, userID, picture.name, picture.contentType, picture.content)
    }

    func picture(named name: String) throws -> StoredPicture? {
        try connection.first(
            "SELECT name, content_type, content FROM companions_pictures WHERE name = $1", name
        ) {
            StoredPicture(name: $0.text("name"), contentType: $0.text("content_type"), content: $0.blob("content"))
        }
    }

    private static func record(_ row: Row) -> MemberProfile {
        MemberProfile(
            userID: row.int64("user_id"), email: row.text("email"), username: row.text("username"),
            mobile: row.text("mobile"), age: row.text("age"), bio: row.text("bio"),
            constellation: row.text("constellation"), blood: row.text("blood"), birthday: row.text("birthday"),
            sex: row.text("sex"), isWilling: row.bool("is_willing"), sharesMobile: row.bool("shares_mobile"),
            announced: row.int64("announced"), createdAt: row.time("created_at"), picture: row.optionalText("picture"))
    }
}

/// A picture under a name that nobody can guess.
struct StoredPicture: Sendable, Hashable {
    let name: String
    let contentType: String
    let content: [UInt8]
}

/// The profile of a member.
struct MemberProfile: Sendable, Hashable {
    let userID: Int64
    let email: String
    var username: String
    var mobile = ""
    var age = ""
    var bio = ""
    var constellation = ""
    var blood = ""
    var birthday = ""
    var sex = ""
    var isWilling = true
    var sharesMobile = true
    /// The last announcement that is among the member's messages; 0 = none.
    var announced: Int64 = 0
    let createdAt: UnixTime
    /// The name of the picture; `nil` = the standard one. Written with the picture.
    var picture: String?
}
