import Accounts
import AppProto
import Basics
import Database
import GRPCWire
import GatewayProto
import HTTPTypes
import Members
import RPC

/// Sessions as apps see them: their tokens, with the user.
struct SignInSessions: Sendable {
    let store: ProfileStore
    let accounts: Accounts

    /// Returns the tokens of a session.
    func message(for session: ExternalSignIns.Session) async throws -> SignInSession {
        let user = session.user
        let profile = try await store.database.read { try ProfileRecords($0).find(userID: user.id) }
        guard let profile else { throw RPCError(bare: .unauthenticated, "账号已注销") }
        let tokens = accounts.externalSignIns.response(
            for: session, nameInApp: profile.publicID, at: store.clock.now())
        return SignInSession(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
            user: ProfileStore.Member(user: user, profile: profile).message)
    }

    /// - Throws: UNAUTHENTICATED for a token that is not valid or belongs to a user of another organization.
    func refresh(_ token: String, _ context: CallContext) async throws -> SignInSession {
        let now = store.clock.now()
        guard let owner = try await accounts.externalSignIns.owner(ofRefreshToken: token, at: now),
            store.organization.has(owner)
        else { throw Self.wrongToken }
        let profile = try await store.database.read { try ProfileRecords($0).find(userID: owner.id) }
        if let profile, profile.status != .active { throw DisabledAccount() }
        do {
            return try await message(
                for: try await accounts.externalSignIns.refresh(token, peer: context.peer.host, at: now))
        } catch {
            guard let refusal = RPCError(of: error), refusal.status == .unauthenticated else { throw error }
            throw Self.wrongToken.caused(by: error)
        }
    }

    /// Ends the session of a refresh token of the caller; does nothing for a token of somebody else.
    func end(_ token: String, _ context: CallContext) async throws {
        let caller = try store.organization.member(context)
        let now = store.clock.now()
        guard let owner = try await accounts.externalSignIns.owner(ofRefreshToken: token, at: now),
            owner.id == caller.userID
        else { return }
        try await accounts.externalSignIns.end(refreshToken: token, peer: context.peer.host, at: now)
    }

    private static let wrongToken = RPCError(bare: .unauthenticated, "刷新令牌无效或已过期")
}
