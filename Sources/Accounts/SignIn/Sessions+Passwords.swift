package import Basics
package import Crypto
package import Database
import GRPCWire
import HTTPTypes
import Protobuf
package import RPC

/// A password that was checked, until the transaction of the sign-in.
package struct ProvenPassword: Sendable {
    /// The user when the password was checked.
    package let user: UserRecord
    fileprivate let password: Secret
    fileprivate let signIn: Sessions.SignIn
    /// The hash of the password with today's parameters, if the stored one has others.
    fileprivate let newHash: String?
}

extension Sessions {
    /// An attempt to sign in with a password.
    struct SignIn: Sendable {
        /// The name by which somebody signs in, for the limits. Equal names must be equal texts.
        let account: String
        let place: SessionPlace
        /// The method's name, for the audit log.
        let action: String
        let at: UnixTime
    }

    /// Checks a user's password under the limits of failed sign-ins.
    ///
    /// - Parameter found: `nil` if nobody has the name; such an attempt counts, and takes as long.
    /// - Returns: `nil` for a wrong password, which the audit log has.
    /// - Throws: UNAVAILABLE after too many failed attempts, or if too many passwords wait.
    func prove(_ password: Secret, of found: UserRecord?, for signIn: SignIn) async throws -> ProvenPassword? {
        let address = AddressRange.countedAsOne(signIn.place.address)
        // Queried even if there is no such account, so that it takes as long.
        let (attempt, wait) = try await database.read { connection in
            let isKnown = try LoginAddressRecords(connection).contain(address, userID: found?.id ?? 0)
            let attempt = LoginFailures.Attempt(account: signIn.account, address: address, isKnown: isKnown)
            return (attempt, try failures.wait(for: attempt, at: signIn.at, in: connection))
        }
        // Counted before the password is checked and given back if it was right: otherwise many simultaneous attempts would all
        // pass the limit.
        if let wait = wait ?? failures.count(attempt, at: signIn.at) { throw Self.tooManyFailures(wait) }
        // An account without a password, of a program or of a person of an identity provider, is treated like a missing one.
        let user = found.flatMap { $0.hasPassword ? $0 : nil }
        let owner =
            if attempt.isKnown, let found {
                Passwords.Owner.known(address: address, organizationID: found.organization.id)
            } else {
                Passwords.Owner.stranger(address: address)
            }
        let isRight: Bool
        do {
            isRight = try await passwords.verify(password, against: user?.passwordHash, for: owner)
        } catch {
            failures.giveBack(attempt)
            throw error
        }
        guard let user, isRight else {
            if let wait = try await failures.noteFailure(attempt, at: signIn.at, in: database) {
                throw Self.tooManyFailures(wait)
            }
            deferred.noteDenial(
                signIn.action, Self.wrongPassword.code, host: signIn.place.address, at: signIn.at)
            return nil
        }
        failures.giveBack(attempt)
        try await requireNoFailuresElsewhere(attempt, at: signIn.at)
        let newHash = passwords.isOutdated(user.passwordHash) ? try await passwords.hash(password, for: owner) : nil
        return ProvenPassword(user: user, password: password, signIn: signIn, newHash: newHash)
    }

    /// Throws UNAVAILABLE if failures at other gateways have reached the limit while a password was checked: otherwise guesses at all of
    /// them at the same time would be as many as they are.
    private func requireNoFailuresElsewhere(_ attempt: LoginFailures.Attempt, at now: UnixTime) async throws {
        guard !database.isExclusive else { return }
        if let wait = try await database.read({ try failures.wait(for: attempt, at: now, in: $0) }) {
            throw Self.tooManyFailures(wait)
        }
    }

    private static func tooManyFailures(_ wait: Int) -> RPCError {
        RPCError(bare: .unavailable, "too many logins failed: try again later", retryAfterMilliseconds: wait)
    }

    /// Runs `body` in the transaction of a sign-in. The body records it.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL if the password is not the user's any more, or the user's sessions were ended since it was
    ///   checked; AUTH_SECOND_FACTOR_REQUIRED, with a challenge for ``complete(challenge:code:from:at:)``, for a user with a second
    ///   factor.
    func enter<T: Sendable>(
        _ proven: ProvenPassword, _ body: @escaping @Sendable (UserRecord, SignIn, Connection) throws -> T
    ) async throws -> T {
        let (user, signIn) = (proven.user, proven.signIn)
        try auditPressure.admit(user.principal)
        let outcome = try await database.write(mayUseReserve: true) { connection -> Result<T, RPCError>? in
            // The password was checked outside this transaction and may have been changed since.
            guard let current = try UserRecords(connection).find(id: user.id), current.epoch == user.epoch else {
                throw Self.wrongPassword
            }
            guard current.passwordHash == user.passwordHash else { return nil }
            if let newHash = proven.newHash {
                try UserRecords(connection).replaceHash(id: user.id, old: user.passwordHash, new: newHash)
            }
            if try SecondFactorRecords(connection).isConfirmed(userID: user.id) {
                let stored = try UserRecords(connection).find(id: user.id) ?? current
                return .failure(secondFactors.challenge(stored, at: signIn.at))
            }
            return .success(try body(current, signIn, connection))
        }
        switch outcome {
        case .success(let result):
            return result
        case .failure(let challenge):
            var entry = user.did(signIn.action, peer: signIn.place.address)
            entry.result = challenge.code
            deferred.note(entry, at: signIn.at)
            throw challenge
        case nil:
            let current = try await database.read { try UserRecords($0).find(id: user.id) }
            guard let again = try await prove(proven.password, of: current, for: signIn) else {
                throw Self.wrongPassword
            }
            return try await enter(again, body)
        }
    }
}

/// The part of the accounts for apps whose members sign in with passwords, to sessions that the accounts do not keep.
///
/// Limits, queues, the audit log and second factors are those of Login.
package struct MemberPasswords: Sendable {
    let sessions: Sessions

    /// Returns the hash of a new password, for ``UserRecords/update(id:role:passwordHash:at:)``.
    ///
    /// - Throws: UNAVAILABLE if too many passwords wait.
    package func hash(_ password: Secret, _ context: CallContext) async throws -> String {
        try await sessions.passwords.hash(
            password, for: .stranger(address: AddressRange.countedAsOne(context.peer.host)))
    }

    /// Checks a member's password.
    ///
    /// - Parameters:
    ///   - user: `nil` if nobody has the name: such attempts count as well, and take as long.
    ///   - account: the name by which the app recognizes people, for the limits. Equal names must be equal texts.
    /// - Returns: `nil` for a wrong password, which the audit log has.
    /// - Throws: UNAVAILABLE after too many failed attempts, or if too many passwords wait.
    package func prove(
        _ password: Secret, of user: UserRecord?, named account: String, _ context: CallContext, at now: UnixTime
    ) async throws -> ProvenPassword? {
        let signIn = Sessions.SignIn(
            account: account, place: SessionPlace(context), action: context.method.name, at: now)
        return try await sessions.prove(password, of: user, for: signIn)
    }

    /// Runs `body` in the transaction that records a member's sign-in.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL if the password is not the member's any more, or the member's sessions were ended since it
    ///   was checked; AUTH_SECOND_FACTOR_REQUIRED for a member with a second factor.
    package func signIn<T: Sendable>(
        _ proven: ProvenPassword, _ body: @escaping @Sendable (UserRecord, Connection) throws -> T
    ) async throws -> T {
        try await sessions.enter(proven) { user, signIn, connection in
            try Sessions.note(user, from: signIn.place, action: signIn.action, at: signIn.at, in: connection)
            return try body(user, connection)
        }
    }

    /// Records a sign-in without a check of a password, in the transaction that opens the session.
    package static func noteSignIn(
        of user: UserRecord, _ context: (action: String, peer: String), at now: UnixTime, in connection: Connection
    ) throws {
        let place = SessionPlace(address: context.peer, userAgent: "")
        try Sessions.note(user, from: place, action: context.action, at: now, in: connection)
    }
}

extension Accounts {
    package var memberPasswords: MemberPasswords { MemberPasswords(sessions: sessions) }
}
