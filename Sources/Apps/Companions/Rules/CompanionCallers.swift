import Accounts
import AppSupport
import Basics
import Crypto
import Database
import GatewayAPI
import Identity
import Members
import RPC

/// Decides who calls: by an address with a password or a session's credential, or by the session's cookie. An address alone proves
/// nothing.
struct CompanionCallers: Sendable {
    /// The issuer of members' identities: no URL, so no provider's.
    static let issuer = "password"

    /// A member who has proven the password or a session.
    struct Proven: Sendable {
        let user: UserRecord
        /// The credential that was sent; `nil` = the password was.
        let credential: String?
    }

    let database: Database
    let clock: any WallClock
    let organization: AppOrganization
    let sessions: MemberSessions
    let passwords: MemberPasswords
    let limits: CompanionLimits

    /// Returns the member of an address.
    static func user(
        _ address: EmailAddress, of organization: AppOrganization, in connection: Connection
    ) throws -> UserRecord? {
        try Identity.user(
            issuer: issuer, subject: address.key, organizationID: organization.reference.id, in: connection)
    }

    /// Returns the member of the call's cookie.
    ///
    /// - Throws: `refusal` without a caller.
    func member(_ context: CallContext, else refusal: CompanionResult = .unknownAddress) async throws -> UserRecord {
        guard let user = try await sessions.member(context) else { throw refusal }
        return user
    }

    /// Returns the member of the call's cookie, whose address has to be the given one.
    func member(
        _ context: CallContext, named email: String, else refusal: CompanionResult = .unknownAddress
    ) async throws -> UserRecord {
        let user = try await member(context, else: refusal)
        let profile = try await database.read { try MemberProfileRecords($0).find(user.id) }
        guard let profile, profile.email.lowercased() == email.lowercased() else { throw refusal }
        return user
    }

    /// Returns the member with an address and a password, or the credential of one of the member's sessions.
    ///
    /// - Throws: ``CompanionResult/unknownAddress`` or ``CompanionResult/wrongPassword``; UNAVAILABLE after too many failures.
    func prove(_ email: String, _ pass: String, _ context: CallContext) async throws -> Proven {
        guard let address = EmailAddress(email) else { throw CompanionResult.unknownAddress }
        let user = try await database.read { try Self.user(address, of: organization, in: $0) }
        if let user, MemberSessions.isCredential(pass), try await sessions.member(ofCredential: pass)?.id == user.id {
            return Proven(user: user, credential: pass)
        }
        try await provePassword(pass, of: user, address, context)
        guard let user else { throw CompanionResult.unknownAddress }
        return Proven(user: user, credential: nil)
    }

    /// Returns the member with an address and a password.
    func provePassword(_ email: String, _ pass: String, _ context: CallContext) async throws -> UserRecord {
        guard let address = EmailAddress(email) else { throw CompanionResult.unknownAddress }
        let user = try await database.read { try Self.user(address, of: organization, in: $0) }
        try await provePassword(pass, of: user, address, context)
        guard let user else { throw CompanionResult.unknownAddress }
        return user
    }

    private func provePassword(
        _ pass: String, of user: UserRecord?, _ address: EmailAddress, _ context: CallContext
    ) async throws {
        let isRight = try await passwords.verify(
            Secret(pass), of: user, named: address.key, context, at: clock.now())
        guard user != nil else { throw CompanionResult.unknownAddress }
        guard isRight else { throw CompanionResult.wrongPassword }
    }

    /// Returns the credential of a session of a proven member, and gives the call its cookie. A session that the call has proven
    /// continues; otherwise one begins.
    func openSession(_ proven: Proven, _ context: CallContext) async throws -> String {
        let user = proven.user
        var credential = proven.credential
        if credential == nil, try await sessions.member(context)?.id == user.id {
            credential = MemberSessions.credential(in: context)
        }
        let value: String
        if let credential {
            value = credential
        } else {
            try limits.countSignIn(user.id)
            let (now, place) = (clock.now(), (action: context.method.name, peer: context.peer.host))
            value = try await database.write(mayUseReserve: true) { [sessions] connection in
                // The password was checked outside this transaction and may have been changed since.
                guard let current = try UserRecords(connection).find(id: user.id), current.epoch == user.epoch,
                    current.passwordHash == user.passwordHash
                else { throw CompanionResult.wrongPassword }
                try MemberPasswords.noteSignIn(of: current, place, at: now, in: connection)
                return try sessions.begin(for: current, in: connection)
            }
        }
        context.responseMetadata.append(name: "set-cookie", value: sessions.cookie(for: value))
        return value
    }
}
