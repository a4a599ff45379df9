import Basics
import Crypto
import Foundation
import Proto

/// The part of a session's row that is encrypted: the user and their tokens.
struct SealedSession: Codable {
    let organization: String
    let userName: String
    let role: String
    let userID: Int64
    let access: String
    let renewAtMicroseconds: Int64
    let refresh: String

    init(_ user: User, _ tokens: UserTokens) {
        organization = user.organization
        userName = user.userName
        role = user.role
        userID = user.userID
        access = tokens.access.exposedText
        renewAtMicroseconds = tokens.renewAt.microseconds
        refresh = tokens.refresh.exposedText
    }

    var user: User { User(organization: organization, userName: userName, role: role, userID: userID) }

    var tokens: UserTokens {
        UserTokens(
            access: Secret(access), renewAt: UnixTime(microseconds: renewAtMicroseconds), refresh: Secret(refresh))
    }
}
