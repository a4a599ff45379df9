import Accounts
import AppSupport
import Basics
import Crypto
import Database
import GRPCWire
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
        /// The proof of the member.
        enum Proof: Sendable {
            /// The credential of a session.
            case credential(String)
            case password(ProvenPassword)
        }

        let user: UserRecord
        let proof: Proof
    }

    let database: Database
    let clock: any WallClock
    let organization: AppOrganization
    let sessions: MemberSessions
    let passwords: MemberPasswords
    let limits: CompanionLimits

    /// Returns the member of an address.
    static func user(
        _ address: EmailAddress, of organization: AppOrganization, in connection: ReadConnection
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
        let (address, user) = try await find(email)
        if let user, MemberSessions.isCredential(pass), try await sessions.member(ofCredential: pass)?.id == user.id {
            return Proven(user: user, proof: .credential(pass))
        }
        let proven = try await provePassword(pass, of: user, address, context)
        return Proven(user: proven.user, proof: .password(proven))
    }

    /// Returns the member with an address and a password.
    func provePassword(_ email: String, _ pass: String, _ context: CallContext) async throws -> UserRecord {
        let (address, user) = try await find(email)
        return try await provePassword(pass, of: user, address, context).user
    }

    /// Returns the id of the member with an address.
    func userID(of email: String) async throws -> Int64 {
        guard let user = try await find(email).user else { throw CompanionResult.unknownAddress }
        return user.id
    }

    private func find(_ email: String) async throws -> (address: EmailAddress, user: UserRecord?) {
        guard let address = EmailAddress(email) else { throw CompanionResult.unknownAddress }
        return (address, try await database.read { try Self.user(address, of: organization, in: $0) })
    }

    private func provePassword(
        _ pass: String, of user: UserRecord?, _ address: EmailAddress, _ context: CallContext
    ) async throws -> ProvenPassword {
        let proven = try await passwords.prove(
            Secret(pass), of: user, named: "members/\(address.key)", context, at: clock.now())
        guard user != nil else { throw CompanionResult.unknownAddress }
        guard let proven else { throw CompanionResult.wrongPassword }
        return proven
    }

    /// Returns the credential of a session of a proven member, and gives the call its cookie. A session that the call has proven
    /// continues; otherwise one begins.
    func openSession(_ proven: Proven, _ context: CallContext) async throws -> String {
        let value = try await credential(for: proven, context)
        context.responseMetadata.append(name: "set-cookie", value: sessions.cookie(for: value))
        return value
    }

    private func credential(for proven: Proven, _ context: CallContext) async throws -> String {
        let password: ProvenPassword
        switch proven.proof {
        case .credential(let credential): return credential
        case .password(let proof): password = proof
        }
        if try await sessions.member(context)?.id == proven.user.id, let credential = sessions.credential(in: context) {
            return credential
        }
        try limits.countSignIn(proven.user.id)
        do {
            return try await passwords.signIn(password) { [sessions] user, connection in
                try sessions.begin(for: user, in: connection)
            }
        } catch let refusal as RPCError where refusal.detail == .authInvalidCredential {
            throw CompanionResult.wrongPassword
        }
    }
}
