package import Accounts
package import Basics
import Capability
package import Database
import GRPCWire
import IdentityTokens
package import JSON
package import RPC

/// Sign-ins by apps, which have calls of their own.
extension Identity {
    /// Opens a session by an identity token of a provider.
    ///
    /// - Parameters:
    ///   - name: the provider's.
    ///   - nonce: the nonce of the request; empty = none.
    ///   - record: runs in the transaction of the sign-in; an error ends it, and nothing of it remains.
    /// - Throws: AUTH_INVALID_CREDENTIAL for a token that is not valid, UNAVAILABLE while the provider's keys cannot be had.
    package func session(
        _ name: String, token: String, nonce: String, _ context: CallContext, record: @escaping SignInRecord
    ) async throws -> ExternalSignIns.Session {
        try await service.signIns.session(name, token: token, nonce: nonce, context, record: record)
    }

    /// Makes a nonce for a sign-in with a provider.
    package func nonce(for name: String) throws(RPCError) -> String {
        try service.signIns.nonce(for: name)
    }

    /// Verifies a token with which a provider reports an event, and returns its claims.
    package func notice(_ token: String, of name: String, _ context: CallContext) async throws -> [String: JSONValue] {
        try await service.signIns.notice(token, of: name, context)
    }

    /// Returns the organization in which a provider makes members; `nil` if there is no such provider, or its people get another role.
    package func memberOrganization(of name: String) -> String? {
        guard let people = provider(name)?.people, people.rolesClaim == nil, people.defaultRole == .member,
            people.createsAccounts
        else { return nil }
        return people.organization
    }

    /// Returns the issuer of a provider; `nil` if there is no such provider.
    package func issuer(of name: String) -> String? { provider(name)?.issuer }

    private func provider(_ name: String) -> IdentityProvider? {
        service.providers.first { $0.name == name }
    }

    /// Returns the account of a member whom an app has authenticated by itself, and makes it if it does not exist.
    ///
    /// - Parameters:
    ///   - issuer: a text that is no URL, so that no provider has it.
    ///   - email: recorded as not verified, so that nobody else is linked by it.
    ///   - connection: the writer's.
    /// - Returns: `isNew` = the account was made.
    package static func member(
        issuer: String, subject: String, email: String?, organizationID: Int64, at now: UnixTime,
        in connection: Connection
    ) throws -> (user: UserRecord, isNew: Bool) {
        let (key, records) = (
            IdentityKey(organizationID: organizationID, issuer: issuer, subject: subject),
            UserIdentityRecords(connection)
        )
        if let known = try records.find(key), let user = try UserRecords(connection).find(id: known.userID) {
            try records.noteUse(id: known.id, at: now)
            return (user, false)
        }
        let made = try UserRecords(connection).insert(
            organizationID: organizationID, name: AccountNames.member(), role: .member, passwordHash: "", at: now)
        guard let made else { throw RPCError(bare: .aborted, "the account's name is taken: try again") }
        try records.insert(key, userID: made.id, email: email, isEmailVerified: false, at: now)
        return (made, true)
    }

    /// Returns the user who signs in with an identity of a provider; `nil` if nobody does.
    package static func user(
        issuer: String, subject: String, organizationID: Int64, in connection: ReadConnection
    ) throws -> UserRecord? {
        let key = IdentityKey(organizationID: organizationID, issuer: issuer, subject: subject)
        return try UserIdentityRecords(connection).find(key).flatMap { try UserRecords(connection).find(id: $0.userID) }
    }

    /// Returns the identities with which a user can sign in.
    package static func identities(ofUser id: Int64, in connection: ReadConnection) throws -> [UserIdentityRecord] {
        try UserIdentityRecords(connection).all(userID: id)
    }
}
