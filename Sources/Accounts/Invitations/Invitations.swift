import Basics
import Capability
import Crypto
import Database
import GRPCWire
import GatewayAPI
import HTTPTypes
import RPC

/// Invitations of users, who choose their own passwords.
///
/// Whether an invitation is open is decided when it is accepted, in the transaction that creates the user: by its row, its time, and
/// the role that its inviter has then.
struct Invitations: Sendable {
    /// The time for which an invitation can be accepted.
    static let lifetime = Duration.hours(72)
    /// The largest number of open invitations of an organization.
    static let maximum = 100

    /// An invitation with its token, which is shown only once.
    struct Created: Sendable {
        let invitation: InvitationRecord
        let token: Secret
    }

    let database: Database
    let clock: any WallClock
    let identifiers: Identifiers
    let pepper: [UInt8]
    let passwords: Passwords
    /// The limits of failed sign-ins, of which wrong tokens use those of an address.
    let failures: LoginFailures
    let deferred: DeferredRecords

    init(_ sessions: Sessions, clock: any WallClock) {
        database = sessions.database
        self.clock = clock
        identifiers = sessions.identifiers
        pepper = sessions.pepper
        passwords = sessions.passwords
        failures = sessions.failures
        deferred = sessions.deferred
    }

    /// - Throws: PERMISSION_DENIED for a new admin by an API token.
    func create(userName: String, role: Role, by caller: Caller) async throws -> Created {
        if role == .admin { try caller.requirePerson(to: "invite an admin") }
        let now = clock.now()
        let token = InvitationToken()
        let digest = token.digest(pepper: pepper)
        let user = caller.user
        return try await database.write { [id = identifiers.uuid()] connection in
            let organizationID = caller.organization.id
            guard try UserRecords(connection).find(organizationID: organizationID, name: userName) == nil else {
                throw Self.nameIsTaken(userName)
            }
            let records = InvitationRecords(connection)
            guard try !records.contain(organizationID: organizationID, userName: userName, at: now) else {
                throw RPCError.alreadyExists("\"\(userName)\" is already invited: withdraw that invitation first")
            }
            guard try records.count(organizationID: organizationID, at: now) < Self.maximum else {
                throw RPCError(
                    bare: .failedPrecondition,
                    "the organization has \(Self.maximum) open invitations, the maximum: withdraw one of them first")
            }
            let invitation = InvitationRecord(
                id: id, organization: caller.organization, requiresSecondFactor: false, userName: userName, role: role,
                inviter: InvitationRecord.Inviter(
                    id: user.userID, name: user.name, organization: user.home.name, role: user.role),
                createdAt: now, expiresAt: now.adding(Self.lifetime))
            try records.insert(invitation, digest: digest)
            try Audit.record(caller.did(to: "invitations/\(userName)"), at: now, in: connection)
            return Created(invitation: invitation, token: Secret(token.text))
        }
    }

    /// Returns a page of the open invitations of the caller's organization; its cursor is an invitation's id.
    func list(_ page: Page, for caller: Caller) async throws -> PageRows<InvitationRecord> {
        let (organizationID, first, now) = (caller.organization.id, page.cursor, clock.now())
        return try await database.readPage(page.limit) { connection, limit, last in
            try InvitationRecords(connection).page(
                organizationID: organizationID, after: last?.id ?? first, at: now, limit: limit)
        }
    }

    func withdraw(_ id: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let userName = try InvitationRecords(connection).delete(
                id: id, organizationID: caller.organization.id, at: now)
            guard let userName else { throw RPCError.notFound("invitation \(id) does not exist, or has ended") }
            try Audit.record(caller.did(to: "invitations/\(userName)"), at: now, in: connection)
        }
    }

    /// A call without a session.
    struct Visit: Sendable {
        /// The method's name, for the audit log.
        let action: String
        let peer: String
    }

    /// Returns the invitation of a token.
    ///
    /// - Throws: NOT_FOUND for a token that is not valid, whatever the reason; UNAVAILABLE after too many.
    func find(_ text: String, _ visit: Visit) async throws -> InvitationRecord {
        let now = clock.now()
        // Wrong tokens count for their address only: there is no account that guesses could lock.
        let attempt = LoginFailures.Attempt(
            account: "invitation", address: AddressRange.countedAsOne(visit.peer), isKnown: true)
        if let wait = failures.count(attempt, at: now) {
            throw RPCError(
                bare: .unavailable, "too many wrong invitations were sent: try again later",
                retryAfterMilliseconds: wait)
        }
        let found: InvitationRecord?
        do {
            let digest = InvitationToken(text: text)?.digest(pepper: pepper)
            found = try await database.read { connection in
                try digest.flatMap { try InvitationRecords(connection).find(digest: $0) }
            }
        } catch {
            failures.giveBack(attempt)
            throw error
        }
        guard let found, found.isOpen(at: now) else {
            deferred.noteDenial(visit.action, Self.ended.code, host: visit.peer, at: now)
            throw Self.ended
        }
        failures.giveBack(attempt)
        return found
    }

    /// Creates the user of an invitation, and ends it.
    ///
    /// - Throws: NOT_FOUND for a token that is not valid, or was used meanwhile; ALREADY_EXISTS if somebody else has the name.
    func accept(_ text: String, password: Secret, _ visit: Visit) async throws -> UserRecord {
        _ = try await find(text, visit)
        guard let digest = InvitationToken(text: text)?.digest(pepper: pepper) else { throw Self.ended }
        let hash = try await passwords.hash(
            password, for: .stranger(address: AddressRange.countedAsOne(visit.peer)))
        let now = clock.now()
        return try await database.write { connection in
            guard let invitation = try InvitationRecords(connection).find(digest: digest), invitation.isOpen(at: now),
                try InvitationRecords(connection).delete(
                    id: invitation.id, organizationID: invitation.organization.id, at: now) != nil
            else { throw Self.ended }
            let user = try UserRecords(connection).insert(
                organizationID: invitation.organization.id, name: invitation.userName, role: invitation.role,
                passwordHash: hash, at: now)
            guard let user else { throw Self.nameIsTaken(invitation.userName) }
            try Audit.record(user.did(visit.action, peer: visit.peer), at: now, in: connection)
            return user
        }
    }

    private static func nameIsTaken(_ name: String) -> RPCError {
        RPCError.alreadyExists("a user named \"\(name)\" already exists")
    }

    private static let ended = RPCError.notFound(
        "the invitation is not valid: it was used or withdrawn, or has expired; ask for another one")
}
