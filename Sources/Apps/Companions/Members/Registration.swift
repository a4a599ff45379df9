import Accounts
import Basics
import Capability
import Crypto
import Database
import GRPCWire
import HTTPTypes
import Identity
import Members
import RPC

/// The rules for new accounts, passwords and the end of accounts.
struct Registration: Sendable {
    let callers: CompanionCallers
    let limits: CompanionLimits
    let accounts: MemberAccounts
    let minimumPassword: Int
    let mostMembers: Int
    /// For counts of all members.
    let reads: BackgroundReads

    private var database: Database { callers.database }

    /// Makes an account with a session.
    ///
    /// - Parameter picture: the bytes of a file; empty = none.
    /// - Returns: the session's credential.
    func register(
        name: String, email: String, pass: String, picture: [UInt8], _ context: CallContext
    ) async throws -> String {
        try limits.countRegistration(context)
        guard let address = EmailAddress(email) else {
            throw CompanionFields.invalid("email", "must be an address such as ada@example.com")
        }
        try CompanionFields.username(name)
        try CompanionFields.password(pass, least: minimumPassword)
        let stored = picture.isEmpty ? nil : try MemberPictures.stored(picture)
        guard try await database.read({ try CompanionCallers.user(address, of: callers.organization, in: $0) }) == nil
        else { throw Self.taken }
        guard try await reads.run({ try MemberProfileRecords($0).count() }) < mostMembers else {
            throw CompanionResult(1, "Register error")
        }
        let hash = try await callers.passwords.hash(Secret(pass), context)
        let (now, peer) = (callers.clock.now(), context.peer.host)
        return try await database.write { [callers] connection in
            try callers.organization.checkExists(in: connection)
            let (made, isNew) = try Identity.member(
                issuer: CompanionCallers.issuer, subject: address.key, email: address.key,
                organizationID: callers.organization.reference.id, at: now, in: connection)
            guard isNew else { throw Self.taken }
            try UserRecords(connection).update(id: made.id, role: .member, passwordHash: hash, at: now)
            guard let user = try UserRecords(connection).find(id: made.id) else {
                throw CompanionResult(1, "Register error")
            }
            var profile = MemberProfile(userID: user.id, email: address.text, username: name, createdAt: now)
            profile.announced = try MessageRecords(connection).lastAnnouncement()
            try MemberProfileRecords(connection).insert(profile)
            if let stored { try MemberProfileRecords(connection).setPicture(stored, of: user.id) }
            try MemberPasswords.noteSignIn(of: user, (action: "CreateUser", peer: peer), at: now, in: connection)
            return try callers.sessions.begin(for: user, in: connection)
        }
    }

    /// Replaces the password of a member, and ends all sessions but a new one.
    ///
    /// - Returns: the credential of the new session.
    func changePassword(
        email: String, pass: String, new: String, _ context: CallContext
    ) async throws -> String {
        try CompanionFields.password(new, least: minimumPassword)
        let user = try await callers.provePassword(email, pass, context)
        try limits.countChange(user.id)
        let hash = try await callers.passwords.hash(Secret(new), context)
        let (now, peer) = (callers.clock.now(), context.peer.host)
        return try await database.write(mayUseReserve: true) { [callers] connection in
            let records = UserRecords(connection)
            guard let current = try records.find(id: user.id), current.epoch == user.epoch,
                current.passwordHash == user.passwordHash
            else { throw CompanionResult.wrongPassword }
            // The epoch changes, with which all sessions end.
            try records.update(id: user.id, role: current.role, passwordHash: hash, at: now)
            guard let user = try records.find(id: user.id) else { throw CompanionResult.unknownAddress }
            try MemberPasswords.noteSignIn(of: user, (action: "ChangePassword", peer: peer), at: now, in: connection)
            return try callers.sessions.begin(for: user, in: connection)
        }
    }

    /// Deletes an account with everything that belongs to it.
    func delete(_ user: UserRecord, _ context: CallContext) async throws {
        do {
            try await accounts.delete(user.id, from: context.peer.host)
        } catch let refusal as RPCError where refusal.status == .failedPrecondition {
            throw CompanionResult(-1, refusal.message)
        }
    }

    private static let taken = CompanionResult(-1, "Email has existed")
}

/// An e-mail address as the published app accepts it: `[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,64}`, at most 254 bytes.
struct EmailAddress: Sendable, Hashable {
    private static let longest = 254

    /// The address as it was written.
    let text: String
    /// The address in the form in which addresses are compared.
    var key: String { text.lowercased() }

    /// - Returns: `nil` for other texts.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longest, parts.count == 2, !parts[0].isEmpty,
            parts[0].allSatisfy({ $0.isASCIIAlphanumeric || "._%+-".utf8.contains($0) }),
            let dot = parts[1].lastIndex(of: UInt8(ascii: ".")), dot > parts[1].startIndex,
            parts[1][..<dot].allSatisfy({ $0.isASCIIAlphanumeric || ".-".utf8.contains($0) }),
            case let top = parts[1][dot...].dropFirst(), (2...64).contains(top.count),
            top.allSatisfy(\.isASCIILetter)
        else { return nil }
        self.text = text
    }
}
