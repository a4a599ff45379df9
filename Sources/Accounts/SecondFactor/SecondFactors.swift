import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The second factors of people: an authenticator app, and recovery codes for the day when it is lost.
struct SecondFactors: Sendable {
    /// The name of the service in authenticator apps.
    static let issuer = "data-gateway"
    private static let challengeLifetime = Duration.minutes(5)

    /// An attempt to use a code.
    struct Attempt: Sendable {
        /// The origin of an attempt. Wrong codes of one do not use up the attempts of the others.
        enum Origin: String, Sendable {
            /// A sign-in from an address that has signed in to the account.
            case knownAddress
            /// A sign-in from another address.
            case otherAddress
            /// A call with an access token of the user.
            case session
        }

        let userID: Int64
        let origin: Origin

        fileprivate var key: String { "\(userID) \(origin)" }
    }

    let pepper: [UInt8]
    private let secrets: SealedValues
    private let challengeKey: [UInt8]
    /// The limits of wrong codes for each user and origin, in a minute and in an hour. Nobody reaches them without the user's password or
    /// one of their access tokens. Addresses that have signed in, and calls with a token, have limits of their own, so that neither
    /// somebody elsewhere who knows the password nor the holder of a stolen token locks the user out.
    private let attempts: [Throttle]

    init(_ keyring: Keyring, configuration: AccountsConfiguration) {
        pepper = keyring.key(.pepper)
        secrets = SealedValues(key: keyring.key(.secondFactors))
        challengeKey = keyring.key(.signInChallenges)
        attempts = [
            Throttle(perMinute: configuration.wrongCodesOfUser),
            Throttle(perHour: configuration.wrongCodesOfUserInHour),
        ]
    }

    /// Returns the error that asks for the second step of a sign-in.
    func challenge(_ user: UserRecord, at now: UnixTime) -> RPCError {
        let challenge = SignInChallenge(
            for: user, expiresAt: now.adding(Self.challengeLifetime), key: challengeKey)
        var error = RPCError(
            .authSecondFactorRequired,
            "the account has a second factor: complete the sign-in with its code (SessionService.CompleteLogin)")
        error.metadata["challenge"] = challenge.text
        return error
    }

    func isValid(_ challenge: SignInChallenge, of user: UserRecord, at now: UnixTime) -> Bool {
        challenge.isValid(for: user, key: challengeKey, at: now)
    }

    /// Counts an attempt as failed in advance, so that many at once do not all pass the limit.
    ///
    /// - Throws: UNAVAILABLE without detail after too many wrong codes.
    func count(_ attempt: Attempt, at now: UnixTime) throws(RPCError) {
        for (index, limit) in attempts.enumerated() {
            guard let wait = limit.take(attempt.key, at: now) else { continue }
            attempts[..<index].forEach { $0.giveBack(attempt.key) }
            throw RPCError(
                bare: .unavailable, "too many wrong codes were sent: try again later", retryAfterMilliseconds: wait)
        }
    }

    /// Uncounts an attempt that did not fail.
    func giveBack(_ attempt: Attempt) {
        attempts.forEach { $0.giveBack(attempt.key) }
    }

    /// Uses up a code of the app, or a recovery code.
    ///
    /// - Returns: whether it was right; a code of a time step that was accepted before is not.
    func accept(_ code: String, of userID: Int64, at now: UnixTime, in connection: Connection) throws -> Bool {
        guard let factor = try SecondFactorRecords(connection).find(userID: userID), factor.confirmedAt != nil else {
            return false
        }
        if try acceptFromApp(code, factor, of: userID, at: now, in: connection) { return true }
        guard let recovery = RecoveryCode(text: code) else { return false }
        return try SecondFactorRecords(connection).useRecoveryCode(
            userID: userID, digest: recovery.digest(of: userID, pepper: pepper))
    }

    /// Begins to set up an app.
    func enroll(_ user: UserRecord, at now: UnixTime, in connection: Connection) throws -> TOTP {
        let app = TOTP()
        try SecondFactorRecords(connection).replace(
            userID: user.id, sealed: secrets.seal(app.secret.exposed, of: Self.owner(user.id)), at: now)
        return app
    }

    /// Turns the factor on.
    ///
    /// - Returns: the recovery codes; `nil` if the code is wrong.
    func confirm(_ code: String, of userID: Int64, at now: UnixTime, in connection: Connection) throws -> [String]? {
        guard let factor = try SecondFactorRecords(connection).find(userID: userID), factor.confirmedAt == nil else {
            throw RPCError(bare: .failedPrecondition, "no second factor is being set up: begin with EnrollSecondFactor")
        }
        guard try acceptFromApp(code, factor, of: userID, at: now, in: connection) else { return nil }
        try SecondFactorRecords(connection).confirm(userID: userID, at: now)
        return try replaceRecoveryCodes(of: userID, in: connection)
    }

    func replaceRecoveryCodes(of userID: Int64, in connection: Connection) throws -> [String] {
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode() }
        try SecondFactorRecords(connection).replaceRecoveryCodes(
            userID: userID, digests: codes.map { $0.digest(of: userID, pepper: pepper) })
        return codes.map(\.text)
    }

    private func acceptFromApp(
        _ code: String, _ factor: SecondFactorRecord, of userID: Int64, at now: UnixTime, in connection: Connection
    ) throws -> Bool {
        // Apps show the code in two groups.
        let digits = code.filter { $0 != " " }
        guard let secret = secrets.open(factor.sealed, of: Self.owner(userID)),
            let step = TOTP(secret: Secret(secret)).step(of: digits, at: now, after: factor.lastStep)
        else { return false }
        try SecondFactorRecords(connection).noteStep(step, userID: userID)
        return true
    }

    private static func owner(_ userID: Int64) -> [UInt8] { Array("users/\(userID)".utf8) }
}
