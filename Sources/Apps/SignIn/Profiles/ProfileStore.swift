import Accounts
import AppProto
import Basics
import Capability
import Database
import GRPCWire
import Members
import RPC

/// Users with their profiles.
struct ProfileStore: Sendable {
    /// A user who may use the app.
    struct Member: Sendable {
        let user: UserRecord
        var profile: ProfileRecord

        var message: SignInUser {
            SignInUser(
                id: profile.publicID, email: profile.email, nickname: profile.nickname, avatarURL: profile.avatarURL,
                role: user.role >= .admin ? "ADMIN" : "USER", status: profile.status.rawValue,
                onboardingCompleted: profile.isOnboarded)
        }
    }

    let organization: AppOrganization
    let database: Database
    let clock: any WallClock

    /// Returns the calling member.
    ///
    /// - Throws: UNAUTHENTICATED for users of other organizations and for disabled ones.
    func caller(_ context: CallContext) async throws -> Member {
        let id = try organization.member(context).userID
        let found = try await database.read { connection -> (UserRecord?, ProfileRecord?) in
            (try UserRecords(connection).find(id: id), try ProfileRecords(connection).find(userID: id))
        }
        guard let user = found.0 else { throw Self.unknown }
        if let profile = found.1 { return try admit(Member(user: user, profile: profile)) }
        // An operator has made the account, so that it has no profile yet.
        return try await database.write { try member(user, in: $0) }
    }

    /// Returns the member for a user in a transaction of the writer, and makes the profile if it does not exist.
    ///
    /// - Parameters:
    ///   - email: for a new profile.
    ///   - nickname: for a new profile.
    /// - Throws: ``DisabledAccount``.
    func member(
        _ user: UserRecord, email: String? = nil, nickname: String? = nil, in connection: Connection
    ) throws -> Member {
        let profile = try ProfileRecords(connection).findOrInsert(
            userID: user.id, email: email, nickname: nickname, at: clock.now())
        guard let profile else { throw Self.unknown }
        return try admit(Member(user: user, profile: profile))
    }

    /// Returns the user with an id that clients see, or with the name of an account, which is all that operators see.
    func find(_ id: String, at now: UnixTime, in connection: Connection) throws -> Member? {
        if let profile = try ProfileRecords(connection).find(publicID: id) {
            return try UserRecords(connection).find(id: profile.userID).map { Member(user: $0, profile: profile) }
        }
        guard let user = try UserRecords(connection).find(organizationID: organization.reference.id, name: id) else {
            return nil
        }
        return try ProfileRecords(connection).findOrInsert(userID: user.id, email: nil, nickname: nil, at: now)
            .map { Member(user: user, profile: $0) }
    }

    private func admit(_ member: Member) throws -> Member {
        guard member.profile.status == .active else { throw DisabledAccount() }
        return member
    }

    private static let unknown = RPCError(bare: .unauthenticated, "账号不存在或已注销")
}

/// The refusal of a user whom an operator has disabled.
struct DisabledAccount: RPCErrorConvertible {
    var rpcError: RPCError { RPCError(bare: .unauthenticated, "账号已被禁用") }
}
