import Accounts
import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import Identity
import Members
import RPC

/// The owners of libraries: the caller's user id.
struct LibraryOwners: Sendable {
    /// The issuer of the identity that owns the shared library: no URL, so no provider's.
    private static let issuer = "archive"

    let sessions: MemberSessions
    /// The owner of the only library, which everybody on this machine uses; `nil` = each member has one.
    let shared: Int64?
    /// The names of the listener by which the shared library is used.
    let hosts: OwnHosts

    /// Returns the owner of the shared library, and makes it if it does not exist.
    static func shared(_ organization: AppOrganization, database: Database, at now: UnixTime) async throws -> Int64 {
        try await database.write(mayUseReserve: true) { connection in
            let (user, isNew) = try Identity.member(
                issuer: issuer, subject: "anyone", email: nil, organizationID: organization.reference.id, at: now,
                in: connection)
            if isNew {
                var entry = AuditEntry.byGateway("CreateUser", on: "users/\(user.id)")
                entry.organization = organization.reference
                try Audit.record(entry, at: now, in: connection)
            }
            return user.id
        }
    }

    /// Returns the owner of the library that the caller uses.
    ///
    /// - Throws: UNAUTHENTICATED without a member's cookie; for the shared library, from another machine. PERMISSION_DENIED for the
    ///   shared library by a host name that may belong to a web page.
    func owner(_ context: CallContext) async throws -> Int64 {
        guard let shared else { return try await member(context).id }
        guard context.isFromThisMachine else { throw ArchiveFailure.signedOut }
        guard hosts.include(context) else { throw ArchiveFailure.host(context.metadata["host"] ?? "") }
        return shared
    }

    /// Returns the calling member.
    ///
    /// - Throws: UNAUTHENTICATED without a member's cookie.
    func member(_ context: CallContext) async throws -> UserRecord {
        guard let member = try await sessions.member(context) else { throw ArchiveFailure.signedOut }
        return member
    }

    /// Signs a member in, and returns the value of the response's field `set-cookie`.
    ///
    /// - Throws: UNAUTHENTICATED for a wrong name or password, UNAVAILABLE after too many of them.
    func open(name: String, password: Secret, _ context: CallContext) async throws -> String {
        try await Self.converting { try await sessions.open(name: name, password: password, context) }
    }

    /// Replaces a member's password, and returns the value of the response's field `set-cookie` for a new session.
    ///
    /// - Throws: as ``open(name:password:_:)``; INVALID_ARGUMENT for a new password of a wrong length.
    func changePassword(
        name: String, password: Secret, new: String, _ context: CallContext
    ) async throws -> String {
        guard FieldRules.isPassword(new) else { throw ArchiveFailure.newPassword }
        return try await Self.converting {
            try await sessions.changePassword(name: name, password: password, new: Secret(new), context)
        }
    }

    private static func converting(_ body: () async throws -> String) async throws -> String {
        do {
            return try await body()
        } catch {
            guard let refusal = RPCError(of: error), refusal.status == .unauthenticated else { throw error }
            throw ArchiveFailure.wrongPassword.rpcError.caused(by: error)
        }
    }
}
