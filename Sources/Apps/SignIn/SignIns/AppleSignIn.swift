import Accounts
import AppProto
import Basics
import Database
import GRPCWire
import HTTPTypes
import Identity
import IdentityTokens
import JSON
import Members
import RPC

/// Sign-ins with Apple, and Apple's notifications about people.
struct AppleSignIn: Sendable {
    /// The text that apps were written against.
    private static let invalidToken = "Invalid Apple identity token"

    /// The name of Apple's entry in the configuration.
    let provider: String
    let identity: Identity
    let accounts: ExternalSignIns
    let store: ProfileStore

    /// - Throws: UNAUTHENTICATED for a token that is not valid or was used, UNAVAILABLE while Apple's keys cannot be had.
    func open(_ request: SignInWithAppleRequest, _ context: CallContext) async throws -> ExternalSignIns.Session {
        // Apple gives the name to the app, not into the token: it is a hint, and only for a new account.
        let nickname = ProfileText.nickname(
            hints: request.nickname, request.fullName_?.familyName, request.fullName_?.givenName)
        do {
            return try await identity.session(
                provider, token: request.identityToken, nonce: request.nonce, context
            ) { [store] user, email, connection in
                _ = try store.member(user, email: email, nickname: nickname, in: connection)
            }
        } catch let error as DisabledAccount {
            throw error
        } catch {
            guard let refusal = RPCError(of: error), refusal.status == .unauthenticated else { throw error }
            throw RPCError(bare: .unauthenticated, Self.invalidToken).caused(by: error)
        }
    }

    func nonce() throws(RPCError) -> String { try identity.nonce(for: provider) }

    /// Ends the sessions of a person who has revoked the consent or deleted the Apple account. Other events change nothing.
    func notify(_ payload: String, _ context: CallContext) async throws {
        let claims: [String: JSONValue]
        do {
            claims = try await identity.notice(payload, of: provider, context)
        } catch {
            guard let refusal = RPCError(of: error), refusal.status == .unauthenticated else { throw error }
            throw RPCError(bare: .unauthenticated, "the notification is not valid").caused(by: error)
        }
        guard let event = Self.event(claims["events"]), let issuer = identity.issuer(of: provider) else {
            throw RPCError(bare: .invalidArgument, "payload must have the claim events with a type and a sub")
        }
        guard ["consent-revoked", "account-delete", "account-deleted"].contains(event.type) else { return }
        let (now, peer) = (store.clock.now(), context.peer.host)
        try await store.database.write(mayUseReserve: true) { [store, accounts, provider] connection in
            let user = try Identity.user(
                issuer: issuer, subject: event.subject, organizationID: store.organization.reference.id, in: connection)
            guard let user else { return }
            try accounts.endSessions(of: user, at: now, in: connection)
            let entry = AuditEntry(
                actor: "provider:\(provider)", organization: user.organization, action: "EndSessions",
                target: "users/\(user.id)", peer: peer)
            try Audit.record(entry, at: now, in: connection)
        }
    }

    /// Returns the event of a notification. Apple sends it as JSON in a text.
    private static func event(_ claim: JSONValue?) -> (type: String, subject: String)? {
        let members = claim?.members ?? claim?.stringValue.flatMap { JSONValue(claims: Array($0.utf8))?.members }
        guard let type = members?["type"]?.stringValue, let subject = members?["sub"]?.stringValue else { return nil }
        return (type, subject)
    }
}
