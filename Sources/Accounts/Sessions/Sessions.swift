import Basics
import Crypto
import Database
import GatewayAPI
import HTTPTypes
import RPC

/// Users' sessions, which a password opens and refresh tokens prolong (RFC 9700, section 4.14).
///
/// A refresh token is valid for one rotation. If it is used again, either its response was lost, and within the grace period the
/// same successor is returned; or somebody else has the token as well, and the whole family is revoked.
struct Sessions: Sendable {
    struct Opened: Sendable {
        /// The session, which an access token has to name.
        let id: String
        let user: UserRecord
        let refreshToken: String
        let refreshExpiresAt: UnixTime
        /// The time at which the session ends although it is used; `nil` = it does not.
        let endsAt: UnixTime?
    }

    let database: Database
    let passwords: Passwords
    let identifiers: Identifiers
    let deferred: DeferredRecords
    let pepper: [UInt8]
    let configuration: AccountsConfiguration
    let clockGuard: ClockGuard
    /// The limits of failed attempts.
    let failures: LoginFailures
    let auditPressure: AuditPressure
    let secondFactors: SecondFactors

    /// - Throws: AUTH_SECOND_FACTOR_REQUIRED, with a challenge for ``complete(challenge:code:from:at:)``, if the password is right
    ///   and the user has a second factor.
    func login(
        organization: String, userName: String, password: Secret, from place: SessionPlace, at now: UnixTime
    ) async throws -> Opened {
        // No account has such a name, and the text may be long.
        guard FieldRules.isAccountName(organization), FieldRules.isAccountName(userName) else {
            throw Self.wrongPassword
        }
        let user = try await database.read { try UserRecords($0).find(organization: organization, name: userName) }
        let signIn = SignIn(account: "\(organization)/\(userName)", place: place, action: "Login", at: now)
        guard let proven = try await prove(password, of: user, for: signIn) else { throw Self.wrongPassword }
        return try await enter(proven) { user, signIn, connection in
            try begin(user, by: .password, from: signIn.place, at: signIn.at, in: connection)
        }
    }

    /// Completes a sign-in with a second factor.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL for a challenge or code that is wrong, was used or has expired; UNAVAILABLE without detail
    ///   after too many codes.
    func complete(
        challenge text: String, code: String, from place: SessionPlace, at now: UnixTime
    ) async throws -> Opened {
        guard let challenge = SignInChallenge(text: text) else { throw Self.wrongChallenge }
        let address = AddressRange.countedAsOne(place.address)
        let (found, attempt, wait) = try await database.read { connection in
            let isKnown = try LoginAddressRecords(connection).contain(address, userID: challenge.userID)
            let attempt = SecondFactors.Attempt(
                userID: challenge.userID, origin: isKnown ? .knownAddress : .otherAddress)
            return (
                try UserRecords(connection).find(id: challenge.userID), attempt,
                try secondFactors.wait(for: attempt, at: now, in: connection)
            )
        }
        guard let user = found, secondFactors.isValid(challenge, of: user, at: now)
        else { throw Self.wrongChallenge }
        try auditPressure.admit(user.principal)
        if let wait { throw SecondFactors.tooMany(wait) }
        try secondFactors.count(attempt, at: now)
        let outcome: SecondFactors.Outcome<Opened>
        do {
            outcome = try await database.write(mayUseReserve: true) { connection in
                guard let current = try UserRecords(connection).find(id: user.id), current.epoch == user.epoch,
                    current.passwordHash == user.passwordHash
                else { throw Self.wrongChallenge }
                return try secondFactors.run(attempt, at: now, in: connection) {
                    guard try secondFactors.accept(code, of: current.id, at: now, in: connection) else { return nil }
                    return try begin(current, by: .secondFactor, from: place, at: now, in: connection)
                }
            }
        } catch {
            secondFactors.giveBack(attempt)
            throw error
        }
        switch outcome {
        case .accepted(let opened):
            secondFactors.giveBack(attempt)
            return opened
        case .wrong:
            var entry = user.did("CompleteLogin", peer: place.address)
            entry.result = Self.wrongCode.code
            deferred.note(entry, at: now)
            throw Self.wrongCode
        case .limited(let wait): throw SecondFactors.tooMany(wait)
        }
    }

    /// The way in which a session begins.
    struct Start: Sendable {
        let proof: SessionProof
        let place: SessionPlace
        /// The time after which the session ends although it is used; `nil` = it does not.
        var lifetime: Duration?
        /// The method's name, for the audit log.
        var action = "Login"
    }

    /// Opens a session of a user whose identity was proven, in the transaction of `connection`.
    func begin(
        _ user: UserRecord, by proof: SessionProof, from place: SessionPlace, at now: UnixTime,
        in connection: Connection
    ) throws -> Opened {
        try begin(user, Start(proof: proof, place: place), at: now, in: connection)
    }

    /// Opens a session of a user whose identity was proven, in the transaction of `connection`.
    func begin(_ user: UserRecord, _ start: Start, at now: UnixTime, in connection: Connection) throws -> Opened {
        let (proof, place, action) = (start.proof, start.place, start.action)
        let token = OpaqueToken(.refresh, id: identifiers.uuid())
        var record = self.record(token, family: token.id, userID: user.id, at: now)
        if let lifetime = start.lifetime {
            let end = UnixTime(seconds: now.seconds).adding(lifetime)
            record.endsAt = end
            record.expiresAt = min(record.expiresAt, end)
        }
        if let permit = clockGuard.permit() {
            try RefreshTokenRecords(connection).deleteExpired(userID: user.id, permit)
        }
        try SessionRecords(connection).insert(
            SessionRecord(
                id: record.family, userID: user.id, proof: proof, place: place,
                times: SessionTimes(createdAt: now, lastUsedAt: now, expiresAt: record.expiresAt)))
        try SessionRecords(connection).trim(userID: user.id, to: configuration.maximumSessionsPerUser)
        try RefreshTokenRecords(connection).insert(record)
        try Self.note(user, from: place, action: action, at: now, in: connection)
        let current = try UserRecords(connection).find(id: user.id) ?? user
        return Opened(
            id: record.family, user: current, refreshToken: token.text, refreshExpiresAt: record.expiresAt,
            endsAt: record.endsAt)
    }

    /// Records that a user has signed in.
    static func note(
        _ user: UserRecord, from place: SessionPlace, action: String, at now: UnixTime, in connection: Connection
    ) throws {
        try UserRecords(connection).noteLogin(id: user.id, at: now)
        try LoginAddressRecords(connection).note(
            AddressRange.countedAsOne(place.address), userID: user.id, at: now)
        try Audit.record(user.did(action, peer: place.address), at: now, in: connection)
    }

    func refresh(_ text: String, peer: String, at now: UnixTime) async throws -> Opened {
        // A guess costs a read and no commit.
        guard let token = OpaqueToken(.refresh, text: text), let user = try await owner(of: text, at: now) else {
            throw Self.wrongRefreshToken
        }
        try auditPressure.admit(user.principal)
        let opened = try await database.write(mayUseReserve: true) { try rotate(token, peer: peer, at: now, in: $0) }
        guard let opened else {
            deferred.noteDenial("RefreshToken", Self.wrongRefreshToken.code, host: peer, at: now)
            throw Self.wrongRefreshToken
        }
        return opened
    }

    /// Ends the session of the token; does nothing for an unknown token.
    func logout(_ text: String, peer: String, at now: UnixTime) async throws {
        guard let token = OpaqueToken(.refresh, text: text),
            let record = try await database.read({ try RefreshTokenRecords($0).find(id: token.id) }),
            constantTimeEqual(record.digest, token.digest(pepper: pepper))
        else { return }
        try await database.write(mayUseReserve: true) { connection in
            guard let user = try UserRecords(connection).find(id: record.userID) else { return }
            try SessionRecords(connection).delete(id: record.family)
            try Audit.record(user.did("Logout", peer: peer), at: now, in: connection)
        }
    }

    /// Returns the user of a refresh token, whether or not it was used; `nil` if it is not valid.
    func owner(of text: String, at now: UnixTime) async throws -> UserRecord? {
        guard let token = OpaqueToken(.refresh, text: text) else { return nil }
        return try await database.read { connection in
            try known(token, at: now, in: connection).flatMap { try UserRecords(connection).find(id: $0.userID) }
        }
    }

    private func known(
        _ token: OpaqueToken, at now: UnixTime, in connection: ReadConnection
    ) throws -> RefreshTokenRecord? {
        guard let record = try RefreshTokenRecords(connection).find(id: token.id), now < record.expiresAt,
            constantTimeEqual(record.digest, token.digest(pepper: pepper))
        else { return nil }
        return record
    }

    /// - Returns: `nil` if the token is refused; a revocation is committed nevertheless.
    private func rotate(
        _ token: OpaqueToken, peer: String, at now: UnixTime, in connection: Connection
    ) throws -> Opened? {
        guard let record = try known(token, at: now, in: connection),
            let user = try UserRecords(connection).find(id: record.userID)
        else { return nil }
        let successor = token.successor(pepper: pepper)
        guard let rotatedAt = record.rotatedAt else {
            var next = self.record(successor, family: record.family, userID: user.id, at: now)
            next.endsAt = record.endsAt
            next.expiresAt = min(next.expiresAt, record.endsAt ?? next.expiresAt)
            try RefreshTokenRecords(connection).markRotated(id: record.id, at: now)
            try RefreshTokenRecords(connection).insert(next)
            try SessionRecords(connection).noteRefresh(
                id: record.family, address: peer, expiresAt: next.expiresAt, at: now)
            try Audit.record(user.did("RefreshToken", peer: peer), at: now, in: connection)
            return Opened(
                id: record.family, user: user, refreshToken: successor.text, refreshExpiresAt: next.expiresAt,
                endsAt: next.endsAt)
        }
        let next = try RefreshTokenRecords(connection).find(id: successor.id)
        let isLostResponse = now < rotatedAt.adding(configuration.refreshGrace)
        guard isLostResponse, let next, next.rotatedAt == nil else {
            try SessionRecords(connection).delete(id: record.family)
            let entry = AuditEntry(
                actor: "nobody", organization: user.organization, action: "RefreshToken",
                target: "users/\(user.id)", peer: peer, result: "REUSED")
            try Audit.record(entry, at: now, in: connection)
            return nil
        }
        return Opened(
            id: record.family, user: user, refreshToken: successor.text, refreshExpiresAt: next.expiresAt,
            endsAt: next.endsAt)
    }

    private func record(
        _ token: OpaqueToken, family: String, userID: Int64, at now: UnixTime
    ) -> RefreshTokenRecord {
        RefreshTokenRecord(
            id: token.id, family: family, userID: userID, digest: token.digest(pepper: pepper),
            expiresAt: UnixTime(seconds: now.seconds).adding(configuration.refreshTokenLifetime))
    }

    static let wrongPassword = RPCError(
        .authInvalidCredential, "the organization, the user name or the password is wrong")
    private static let wrongChallenge = RPCError(
        .authInvalidCredential, "the sign-in has expired or was never begun: sign in again")
    private static let wrongCode = RPCError(.authInvalidCredential, "the code is wrong or was already used")
    private static let wrongRefreshToken = RPCError(.authInvalidCredential, "the refresh token is not valid")
}

extension UserRecord {
    /// Returns the audit line for a user's action on their own sessions.
    package func did(_ action: String, peer: String) -> AuditEntry {
        AuditEntry(
            actor: "user:\(organization.name)/\(name)", organization: organization, action: action,
            target: "users/\(id)", peer: peer)
    }
}
