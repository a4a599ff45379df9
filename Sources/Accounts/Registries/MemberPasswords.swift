import Basics
import Crypto
import Database
import HTTPTypes
import RPC

/// The part of the accounts for apps whose members have passwords, and are recognized by something else than an account name.
///
/// Failed attempts count as those of operators do, with limits for an account and for an address; passwords wait in the same queues.
package struct MemberPasswords: Sendable {
    let passwords: Passwords
    let failures: LoginFailures
    let deferred: DeferredRecords
    let database: Database

    /// Returns the hash of a new password, for ``UserRecords/update(id:role:passwordHash:at:)``.
    ///
    /// - Throws: UNAVAILABLE if too many passwords wait.
    package func hash(_ password: Secret, _ context: CallContext) async throws -> String {
        try await passwords.hash(password, for: .stranger(address: AddressRange.countedAsOne(context.peer.host)))
    }

    /// Whether a password is that of a user.
    ///
    /// - Parameters:
    ///   - user: `nil` if nobody has the name: such attempts are counted as well.
    ///   - name: the name by which the app recognizes people, for the limits. Equal names must be equal texts.
    /// - Throws: UNAVAILABLE after too many failed attempts, or if too many passwords wait.
    package func verify(
        _ password: Secret, of user: UserRecord?, named name: String, _ context: CallContext, at now: UnixTime
    ) async throws -> Bool {
        let address = AddressRange.countedAsOne(context.peer.host)
        let isKnown = try await database.read { try LoginAddressRecords($0).contain(address, userID: user?.id ?? 0) }
        let attempt = LoginFailures.Attempt(account: "members/\(name)", address: address, isKnown: isKnown)
        // Counted in advance, as in Sessions.login.
        if let wait = failures.count(attempt, at: now) {
            throw RPCError(
                bare: .unavailable, "too many sign-ins failed: try again later", retryAfterMilliseconds: wait)
        }
        let isRight: Bool
        do {
            isRight = try await self.isRight(
                password, of: user, for: isKnown ? .known(address: address) : .stranger(address: address))
        } catch {
            failures.giveBack(attempt)
            throw error
        }
        if isRight {
            failures.giveBack(attempt)
        } else {
            deferred.noteDenial(context.method.name, "WRONG_PASSWORD", host: context.peer.host, at: now)
        }
        return isRight
    }

    private func isRight(_ password: Secret, of user: UserRecord?, for owner: Passwords.Owner) async throws -> Bool {
        // An app that asks for it tells who has an account, so there is no need to spend the time of a hash.
        guard let user, user.hasPassword else { return false }
        guard try await passwords.verify(password, against: user.passwordHash, for: owner) else { return false }
        if passwords.isOutdated(user.passwordHash) {
            let new = try await passwords.hash(password, for: owner)
            try await database.write(mayUseReserve: true) { connection in
                try UserRecords(connection).replaceHash(id: user.id, old: user.passwordHash, new: new)
            }
        }
        return true
    }

    /// Records a sign-in, in the transaction that opens the session.
    package static func noteSignIn(
        of user: UserRecord, _ context: (action: String, peer: String), at now: UnixTime, in connection: Connection
    ) throws {
        let place = SessionPlace(address: context.peer, userAgent: "")
        try Sessions.note(user, from: place, action: context.action, at: now, in: connection)
    }
}

extension Accounts {
    package var memberPasswords: MemberPasswords {
        MemberPasswords(passwords: passwords, failures: sessions.failures, deferred: deferred, database: database)
    }
}
