import Accounts
import Basics
import Capability
import Crypto
import Database
import GRPCWire
import GatewayAPI
import GatewayFormats
import IdentityTokens
import JSON
import RPC

/// The rules by which a verified identity token opens a session: one use, the account, its role.
struct SignInRules: Sendable {
    /// The call that signs somebody in.
    struct Attempt: Sendable {
        /// The method's name, for the audit log.
        let action: String
        let place: SessionPlace
        let at: UnixTime
    }

    let providers: [IdentityProvider]
    let accounts: ExternalSignIns
    let repeatGrace: Duration

    /// Opens a session. An error leaves nothing behind, except for a person who has lost their role: their sessions end.
    ///
    /// - Parameters:
    ///   - digest: the token's.
    ///   - nonce: a nonce of the gateway that is used up, with its expiry.
    ///   - connection: the writer's.
    /// - Returns: `nil` if the person has no role.
    func open(
        _ token: IdentityToken, digest: [UInt8], nonce: (text: String, expiresAt: UnixTime)?,
        of provider: IdentityProvider, _ attempt: Attempt, in connection: Connection
    ) throws -> ExternalSignIns.Session? {
        guard let people = provider.people, let named = provider.configuredOrganization else {
            throw RPCError(.authInvalidCredential, "people cannot sign in with \(provider.name)")
        }
        guard let organizationID = try named.bind(in: connection) else {
            throw RPCError(
                bare: .unavailable, "the organization \(people.organization) of \(provider.name) does not exist")
        }
        let identity = IdentityKey(organizationID: organizationID, issuer: token.issuer, subject: token.subject)
        let known = try account(of: identity, in: connection)
        let decision = people.role(by: token.claims)
        guard let initialRole = decision.initial else {
            if let known { try lockOut(known.user, provider, attempt, in: connection) }
            return nil
        }
        var user: UserRecord
        if let known {
            user = known.user
            try UserIdentityRecords(connection).noteUse(id: known.identityID, at: attempt.at)
        } else {
            user = try newAccount(of: identity, token, provider, initialRole, attempt, in: connection)
        }
        try spend(digest, of: user, until: token.expiresAt, attempt, in: connection)
        if let nonce {
            try spend(
                Digest.sha256(Array(nonce.text.utf8)), of: user, until: nonce.expiresAt, attempt, in: connection)
        }
        if case .managed(let role) = decision, role != user.role {
            let before = user.role
            user = try accounts.setRole(role, of: user, at: attempt.at, in: connection)
            if user.role != before { try note("UpdateUser", user, provider, attempt, in: connection) }
        }
        return try accounts.open(
            for: user, from: attempt.place, action: attempt.action, lifetime: people.sessionLifetime, at: attempt.at,
            in: connection)
    }

    /// Uses a token or nonce up. Within the grace period the same one is accepted again, because its response may have been lost.
    private func spend(
        _ digest: [UInt8], of user: UserRecord, until expiresAt: UnixTime, _ attempt: Attempt,
        in connection: Connection
    ) throws {
        try TokenUse(digest: digest, expiresAt: expiresAt, grace: repeatGrace).record(
            by: user.id, at: attempt.at, in: connection)
    }

    private func account(
        of identity: IdentityKey, in connection: ReadConnection
    ) throws -> (identityID: Int64, user: UserRecord)? {
        guard let record = try UserIdentityRecords(connection).find(identity),
            let user = try UserRecords(connection).find(id: record.userID)
        else { return nil }
        return (record.id, user)
    }

    private func newAccount(
        of identity: IdentityKey, _ token: IdentityToken, _ provider: IdentityProvider, _ role: Role,
        _ attempt: Attempt, in connection: Connection
    ) throws -> UserRecord {
        guard provider.people?.createsAccounts == true else {
            throw RPCError.permissionDenied(
                "no account belongs to this person at \(provider.name), and sign-ins with it create none")
        }
        let email = token.email.map(Self.comparable)
        let linked = try linkedUser(identity, token, provider, in: connection)
        let user = try linked ?? made(token, role, organizationID: identity.organizationID, attempt, in: connection)
        try UserIdentityRecords(connection).insert(
            identity, userID: user.id, email: email, isEmailVerified: token.isEmailVerified, at: attempt.at)
        try note(linked == nil ? "CreateUser" : "LinkIdentity", user, provider, attempt, in: connection)
        return user
    }

    /// Returns the user whom another trusted provider knows by the same verified address. The address of a local account was never
    /// verified: whoever made the account could have chosen somebody else's.
    private func linkedUser(
        _ identity: IdentityKey, _ token: IdentityToken, _ provider: IdentityProvider, in connection: ReadConnection
    ) throws -> UserRecord? {
        guard provider.people?.linksByEmail == true, token.isEmailVerified, let email = token.email.map(Self.comparable)
        else {
            return nil
        }
        let trusted = Set(providers.filter { $0.people?.linksByEmail == true }.map(\.issuer)).subtracting([
            identity.issuer
        ])
        let others = try UserIdentityRecords(connection).all(
            verifiedEmail: email, organizationID: identity.organizationID
        ).filter { trusted.contains($0.issuer) }
        let users = Set(others.map(\.userID))
        // An address that belongs to two people proves nothing.
        guard users.count == 1, let id = users.first else { return nil }
        return try UserRecords(connection).find(id: id)
    }

    /// Returns the form in which addresses are compared. Only the case of ASCII letters is ignored: otherwise the mailbox of somebody
    /// else, whose name begins with the Kelvin sign (U+212A), would count as one that begins with "k".
    static func comparable(_ email: String) -> String {
        String(decoding: email.utf8.map(\.asciiLowercased), as: UTF8.self)
    }

    private func made(
        _ token: IdentityToken, _ role: Role, organizationID: Int64, _ attempt: Attempt, in connection: Connection
    ) throws -> UserRecord {
        for name in AccountNames.candidates(for: token, role: role) {
            let user = try UserRecords(connection).insert(
                organizationID: organizationID, name: name, role: role, passwordHash: "", at: attempt.at)
            if let user { return user }
        }
        throw RPCError.alreadyExists(
            "another user has the name of this person's account: ask an admin to rename or delete it")
    }

    /// Leaves a person whose role the provider has taken away the role that opens nothing, also to their API tokens; the last admin
    /// with a password keeps theirs.
    private func lockOut(
        _ user: UserRecord, _ provider: IdentityProvider, _ attempt: Attempt, in connection: Connection
    ) throws {
        let changed = try accounts.setRole(.member, of: user, at: attempt.at, in: connection)
        if changed.role != user.role { try note("UpdateUser", changed, provider, attempt, in: connection) }
    }

    private func note(
        _ action: String, _ user: UserRecord, _ provider: IdentityProvider, _ attempt: Attempt,
        in connection: Connection
    ) throws {
        let entry = AuditEntry(
            actor: "provider:\(provider.name)", organization: user.organization, action: action,
            target: "users/\(user.id)", peer: attempt.place.address)
        try Audit.record(entry, at: attempt.at, in: connection)
    }
}

/// The names for an account that a sign-in makes, the preferred one first. Names are not identities: a person is recognized by the
/// provider's `sub` alone.
enum AccountNames {
    static func candidates(for token: IdentityToken, role: Role) -> [String] {
        // Names stay in the audit log after their accounts are gone. A member's says nothing about the person.
        if role == .member { return [member()] }
        let named = [
            token.isEmailVerified ? token.email : nil, token.claims["preferred_username"]?.stringValue, token.subject,
        ]
        .compactMap { $0 }.filter(FieldRules.isAccountName)
        let digest = Hex.lower(Digest.sha256(Array("\(token.issuer) \(token.subject)".utf8)).prefix(8))
        let distinct = named.first.map { "\($0.prefix(64 - digest.count - 1))-\(digest)" }
        return named.prefix(1) + [distinct ?? "user-\(digest)"]
    }

    /// Returns a random name for a user of an app.
    static func member() -> String { "m-" + Random.hex(16) }
}
