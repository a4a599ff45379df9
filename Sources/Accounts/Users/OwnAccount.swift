import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import HTTPTypes
import RPC

/// A person's own account: the password and the second factor.
struct OwnAccount: Sendable {
    /// The state of an account.
    struct State: Sendable {
        let user: UserRecord
        let hasSecondFactor: Bool
        let recoveryCodesLeft: Int
    }

    let database: Database
    let clock: any WallClock
    let passwords: Passwords
    let failures: LoginFailures
    let secondFactors: SecondFactors
    let deferred: DeferredRecords

    func state(for caller: Caller) async throws -> State {
        try await database.read { connection in
            let records = SecondFactorRecords(connection)
            return State(
                user: try UserRecords(connection).find(id: caller.user.userID).orNotFound("your user"),
                hasSecondFactor: try records.isConfirmed(userID: caller.user.userID),
                recoveryCodesLeft: try records.recoveryCodesLeft(userID: caller.user.userID))
        }
    }

    /// Replaces the caller's password, and ends their other sessions.
    ///
    /// - Returns: the number of ended sessions.
    func changePassword(from current: Secret, to new: Secret, by caller: Caller) async throws -> Int {
        let user = try await requirePassword(current, of: caller)
        let hash = try await passwords.hash(new, for: .organization(caller.user.home.id))
        let now = clock.now()
        return try await database.write { connection in
            try Self.requireUnchanged(user, in: connection)
            try UserRecords(connection).setPassword(id: user.id, hash: hash, at: now)
            let revoked = try SessionRecords(connection).deleteAll(userID: user.id, except: caller.user.sessionID)
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
            return revoked
        }
    }

    /// Begins to set up an authenticator app.
    func enroll(password: Secret, by caller: Caller) async throws -> TOTP {
        let user = try await requirePassword(password, of: caller)
        let now = clock.now()
        return try await database.write { connection in
            try Self.requireUnchanged(user, in: connection)
            guard try !SecondFactorRecords(connection).isConfirmed(userID: user.id) else {
                throw RPCError(
                    bare: .failedPrecondition, "a second factor is already set up: remove it before you set up another")
            }
            let app = try secondFactors.enroll(user, at: now, in: connection)
            try Audit.record(caller.did(to: "users/\(user.id)"), at: now, in: connection)
            return app
        }
    }

    /// Turns the second factor on; the session of the call counts as opened with it.
    ///
    /// - Returns: the recovery codes.
    func confirm(code: String, by caller: Caller) async throws -> [String] {
        try await change(by: caller) { now, connection in
            guard let codes = try secondFactors.confirm(code, of: caller.user.userID, at: now, in: connection) else {
                return nil
            }
            if let id = caller.user.sessionID {
                try SessionRecords(connection).setProof(.secondFactor, id: id)
            }
            return codes
        }
    }

    /// - Returns: the new recovery codes.
    func replaceRecoveryCodes(code: String, by caller: Caller) async throws -> [String] {
        try await change(by: caller) { now, connection in
            try Self.requireFactor(of: caller, in: connection)
            guard try secondFactors.accept(code, of: caller.user.userID, at: now, in: connection) else { return nil }
            return try secondFactors.replaceRecoveryCodes(of: caller.user.userID, in: connection)
        }
    }

    /// Turns the second factor off.
    func removeSecondFactor(code: String, by caller: Caller) async throws {
        try await change(by: caller) { now, connection -> Void? in
            try Self.requireFactor(of: caller, in: connection)
            if let user = try UserRecords(connection).find(id: caller.user.userID), user.requiresSecondFactor {
                throw RPCError(bare: .failedPrecondition, "your organization requires a second factor")
            }
            guard try secondFactors.accept(code, of: caller.user.userID, at: now, in: connection) else { return nil }
            try SecondFactorRecords(connection).delete(userID: caller.user.userID)
            return ()
        }
    }

    /// Runs a change that a code has to permit, and writes its audit line.
    ///
    /// - Parameter body: returns `nil` if the code is wrong.
    /// - Throws: PERMISSION_DENIED for a wrong code; UNAVAILABLE after too many.
    private func change<T: Sendable>(
        by caller: Caller, _ body: @escaping @Sendable (UnixTime, Connection) throws -> T?
    ) async throws -> T {
        let now = clock.now()
        let userID = caller.user.userID
        let attempt = SecondFactors.Attempt(userID: userID, origin: .session)
        try secondFactors.count(attempt, at: now)
        let outcome: SecondFactors.Outcome<T>
        do {
            outcome = try await database.write(mayUseReserve: true) { connection in
                try secondFactors.run(attempt, at: now, in: connection) {
                    guard let result = try body(now, connection) else { return nil }
                    try Audit.record(caller.did(to: "users/\(userID)"), at: now, in: connection)
                    return result
                }
            }
        } catch {
            secondFactors.giveBack(attempt)
            throw error
        }
        switch outcome {
        case .accepted(let result):
            secondFactors.giveBack(attempt)
            return result
        case .wrong: throw refusal("the code is wrong or was already used", of: caller, at: now)
        case .limited(let wait): throw SecondFactors.tooMany(wait)
        }
    }

    /// Checks the caller's password. Wrong ones have the limits of sign-ins, but are counted apart from those of sign-ins, so that the
    /// holder of a stolen access token does not lock the user out.
    ///
    /// - Throws: PERMISSION_DENIED for a wrong password, and not UNAUTHENTICATED, because the session stays valid.
    func requirePassword(_ password: Secret, of caller: Caller) async throws -> UserRecord {
        let now = clock.now()
        let user = try await database.read { try UserRecords($0).find(id: caller.user.userID) }.orNotFound("your user")
        guard !user.passwordHash.isEmpty else {
            throw RPCError(
                bare: .failedPrecondition, "your user has no password here: sign in at your identity provider instead")
        }
        let address = AddressRange.countedAsOne(caller.peer)
        let attempt = LoginFailures.Attempt(
            account: "session:\(user.organization.name)/\(user.name)", address: address, isKnown: false)
        let wait = try await database.read { try failures.wait(for: attempt, at: now, in: $0) }
        if let wait = wait ?? failures.count(attempt, at: now) { throw Self.tooManyPasswords(wait) }
        let isRight: Bool
        do {
            isRight = try await passwords.verify(
                password, against: user.passwordHash,
                for: .known(address: address, organizationID: user.organization.id))
        } catch {
            failures.giveBack(attempt)
            throw error
        }
        guard isRight else {
            if let wait = try await failures.noteFailure(attempt, at: now, in: database) {
                throw Self.tooManyPasswords(wait)
            }
            throw refusal("the current password is wrong", of: caller, at: now)
        }
        failures.giveBack(attempt)
        return user
    }

    private static func tooManyPasswords(_ wait: Int) -> RPCError {
        RPCError(
            bare: .unavailable, "too many wrong passwords were sent: try again later", retryAfterMilliseconds: wait)
    }

    private func refusal(_ message: String, of caller: Caller, at now: UnixTime) -> RPCError {
        let refusal = RPCError.permissionDenied(message)
        var entry = caller.did(to: "users/\(caller.user.userID)")
        entry.result = refusal.code
        deferred.note(entry, at: now)
        return refusal
    }

    /// - Throws: ABORTED if the password was changed since it was checked.
    private static func requireUnchanged(_ user: UserRecord, in connection: ReadConnection) throws {
        let current = try UserRecords(connection).find(id: user.id)
        guard let current, current.epoch == user.epoch, current.passwordHash == user.passwordHash else {
            throw RPCError(bare: .aborted, "the password was changed meanwhile: try again")
        }
    }

    private static func requireFactor(of caller: Caller, in connection: ReadConnection) throws {
        guard try SecondFactorRecords(connection).isConfirmed(userID: caller.user.userID) else {
            throw RPCError(bare: .failedPrecondition, "no second factor is set up")
        }
    }
}
