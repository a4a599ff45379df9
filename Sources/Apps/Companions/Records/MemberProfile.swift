import Basics

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
