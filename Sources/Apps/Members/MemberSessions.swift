package import Accounts
package import AppSupport
import Basics
package import Capability
package import Crypto
package import Database
import GatewayAPI
package import RPC

/// Sessions of members in browsers and in apps that keep cookies. They open the app's own calls only.
///
/// The database has the digest of a cookie alone. A session ends at its time, with its user, and with anything that changes the user's
/// epoch, such as a new role.
package struct MemberSessions: Sendable {
    /// The longest session.
    package static let lifetime = Duration.days(30)
    /// The largest number of sessions of one member; another one ends the oldest.
    private static let mostOfMember = 20
    private static let sweepBatch = 500

    private let database: Database
    private let clock: any WallClock
    private let passwords: MemberPasswords
    private let organization: AppOrganization
    private let cookie: MemberCookie

    package init(_ environment: AppEnvironment, organization: AppOrganization) {
        database = environment.modules.database
        clock = environment.modules.clock
        passwords = environment.accounts.memberPasswords
        cookie = MemberCookie(
            of: organization.app, isSecure: environment.requiresSecureCookies)
        self.organization = organization
    }

    /// Opens a session in the transaction that authenticates the member.
    ///
    /// - Parameter connection: the writer's.
    /// - Returns: the value of the response's field `set-cookie`.
    package func open(for user: UserRecord, in connection: Connection) throws -> String {
        cookie(for: try begin(for: user, in: connection))
    }

    /// Opens a session as ``open(for:in:)``.
    ///
    /// - Returns: the session's credential, which is the value of its cookie.
    package func begin(for user: UserRecord, in connection: Connection) throws -> String {
        let now = clock.now()
        let value = Base64.encodeURL(Random.bytes(32))
        try connection.execute(
            """
            DELETE FROM member_sessions WHERE user_id = $1 AND digest NOT IN (
                SELECT digest FROM member_sessions WHERE user_id = $1 ORDER BY created_at DESC LIMIT $2)
            """, user.id, Self.mostOfMember - 1)
        try connection.execute(
            """
            INSERT INTO member_sessions (digest, user_id, epoch, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
            """, Self.digest(value), user.id, user.epoch, now.microseconds, now.adding(Self.lifetime).microseconds)
        return value
    }

    /// Returns the value of the response's field `set-cookie` for a session.
    package func cookie(for credential: String) -> String { cookie.set(credential, lifetime: Self.lifetime) }

    /// The value of `set-cookie` that removes the cookie of a session that has ended.
    package var removal: String { cookie.removal }

    /// Whether a text has the form of a credential, whether or not its session exists.
    package static func isCredential(_ text: String) -> Bool {
        text.utf8.count == 43 && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }

    /// Opens a session of a member with a password, under the limits of the gateway's sign-ins.
    ///
    /// - Returns: the value of the response's field `set-cookie`.
    /// - Throws: AUTH_INVALID_CREDENTIAL for a wrong name or password.
    package func open(name: String, password: Secret, _ context: CallContext) async throws -> String {
        let proven = try await prove(name, password, context)
        return try await passwords.signIn(proven) { user, connection in try open(for: user, in: connection) }
    }

    /// Replaces the password of a member, under the limits of the gateway's sign-ins, and ends all sessions but a new one.
    ///
    /// - Returns: the value of the response's field `set-cookie`.
    /// - Throws: AUTH_INVALID_CREDENTIAL for a wrong name or password.
    package func changePassword(
        name: String, password: Secret, new: Secret, _ context: CallContext
    ) async throws -> String {
        let proven = try await prove(name, password, context)
        let hash = try await passwords.hash(new, context)
        let now = clock.now()
        return try await passwords.signIn(proven) { user, connection in
            let records = UserRecords(connection)
            // The epoch changes, with which all sessions end.
            try records.update(id: user.id, role: user.role, passwordHash: hash, at: now)
            guard let changed = try records.find(id: user.id) else { throw Self.wrongPassword }
            return try open(for: changed, in: connection)
        }
    }

    private func prove(_ name: String, _ password: Secret, _ context: CallContext) async throws -> ProvenPassword {
        let organization = organization.reference
        // No account has such a name, and the text may be long.
        guard FieldRules.isAccountName(name) else { throw Self.wrongPassword }
        let user = try await database.read {
            try UserRecords($0).find(organizationID: organization.id, name: name)
        }
        let account = "\(organization.name)/\(name)"
        guard
            let proven = try await passwords.prove(password, of: user, named: account, context, at: clock.now())
        else { throw Self.wrongPassword }
        return proven
    }

    /// Returns the member of a call's cookie; `nil` if the call has no cookie that counts, or its session has ended.
    package func member(_ context: CallContext) async throws -> UserRecord? {
        guard let value = cookie.value(in: context) else { return nil }
        return try await member(ofCredential: value)
    }

    /// Returns the credential of a call's cookie, whether or not its session exists; `nil` if the call has no cookie that counts.
    package func credential(in context: CallContext) -> String? { cookie.value(in: context) }

    /// Returns the member of a session; `nil` if there is no such session, or it has ended.
    package func member(ofCredential value: String) async throws -> UserRecord? {
        let (digest, now) = (Self.digest(value), clock.now())
        return try await database.read { connection in
            let found = try connection.first(
                "SELECT user_id, epoch FROM member_sessions WHERE digest = $1 AND expires_at > $2", digest,
                now.microseconds
            ) { (userID: $0.int64("user_id"), epoch: $0.int64("epoch")) }
            guard let found, let user = try UserRecords(connection).find(id: found.userID), user.epoch == found.epoch,
                organization.has(user)
            else { return nil }
            return user
        }
    }

    /// Ends the session of a call's cookie.
    ///
    /// - Returns: the value of the response's field `set-cookie`, which removes the cookie.
    package func end(_ context: CallContext) async throws -> String {
        if let value = cookie.value(in: context) {
            let digest = Self.digest(value)
            try await database.write(mayUseReserve: true) {
                _ = try $0.execute("DELETE FROM member_sessions WHERE digest = $1", digest)
            }
        }
        return cookie.removal
    }

    /// The removal of sessions that have expired.
    package var sweep: Sweep {
        Sweep("member_sessions") { [database] permit in
            let now = try permit.now().microseconds
            let hasExpired = try await database.read { connection in
                try connection.first(
                    "SELECT 1 AS one FROM member_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1", now
                ) {
                    $0.int64("one")
                } != nil
            }
            // A write would commit although it removes nothing.
            guard hasExpired else { return 0 }
            return try await database.write(mayUseReserve: true) { connection in
                try connection.execute(
                    """
                    DELETE FROM member_sessions WHERE digest IN (
                        SELECT digest FROM member_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
                    """, try permit.now().microseconds, Self.sweepBatch)
            }
        }
    }

    private static let wrongPassword = RPCError(.authInvalidCredential, "the user name or the password is wrong")

    private static func digest(_ value: String) -> [UInt8] { Digest.sha256(Array(value.utf8)) }
}
