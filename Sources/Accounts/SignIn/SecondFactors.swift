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
    /// The same limits, of all gateways.
    private let attemptsEverywhere: [FailureLimit]

    init(_ keyring: Keyring, configuration: AccountsConfiguration) {
        pepper = keyring.key(.pepper)
        secrets = SealedValues(key: keyring.key(.secondFactors))
        challengeKey = keyring.key(.signInChallenges)
        attempts = [
            Throttle(perMinute: configuration.wrongCodesOfUser),
            Throttle(perHour: configuration.wrongCodesOfUserInHour),
        ]
        attemptsEverywhere = [
            FailureLimit(name: "codes", limit: configuration.wrongCodesOfUser, period: .minutes(1), key: pepper),
            FailureLimit(
                name: "codes of an hour", limit: configuration.wrongCodesOfUserInHour, period: .hours(1), key: pepper),
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
            throw Self.tooMany(wait)
        }
    }

    static func tooMany(_ wait: Int) -> RPCError {
        RPCError(bare: .unavailable, "too many wrong codes were sent: try again later", retryAfterMilliseconds: wait)
    }

    /// The end of an attempt.
    enum Outcome<T: Sendable>: Sendable {
        case accepted(T)
        case wrong
        /// Too many codes were wrong, at any gateway: the milliseconds to wait.
        case limited(Int)
    }

    /// Returns the milliseconds until an attempt is permitted by the wrong codes at all gateways; `nil` if it is now.
    func wait(for attempt: Attempt, at now: UnixTime, in connection: ReadConnection) throws -> Int? {
        for limit in attemptsEverywhere {
            if let wait = try limit.wait(for: attempt.key, at: now, in: connection) { return wait }
        }
        return nil
    }

    /// Runs an attempt, and counts it for all gateways if the code is wrong.
    ///
    /// - Parameter body: returns `nil` if the code is wrong, and has changed nothing then.
    func run<T: Sendable>(
        _ attempt: Attempt, at now: UnixTime, in connection: Connection, _ body: () throws -> T?
    ) throws -> Outcome<T> {
        if let wait = try wait(for: attempt, at: now, in: connection) { return .limited(wait) }
        if let result = try body() { return .accepted(result) }
        for limit in attemptsEverywhere { _ = try limit.count(attempt.key, at: now, in: connection) }
        return .wrong
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

/// The proof that a password was right, for the second step of a sign-in.
///
/// The gateway stores nothing for it: the text is the user's id, a time, and a MAC over them and the password's hash, so a change of
/// the password makes it invalid.
struct SignInChallenge: Sendable {
    private static let prefix = TokenPrefix.signInChallenge.rawValue
    private static let macLength = 32
    private static let payloadLength = 24

    let userID: Int64
    /// The user's epoch when the password was checked.
    let epoch: Int64
    let expiresAt: UnixTime
    private let mac: [UInt8]

    init(for user: UserRecord, expiresAt: UnixTime, key: [UInt8]) {
        userID = user.id
        epoch = user.epoch
        self.expiresAt = UnixTime(seconds: expiresAt.seconds)
        mac = HMAC.sha256(
            key: key, Self.payload(user.id, user.epoch, self.expiresAt) + Array(user.passwordHash.utf8))
    }

    /// Parses a challenge; `nil` for any other text.
    init?(text: String) {
        guard text.utf8.count <= 128, text.hasPrefix(Self.prefix),
            let bytes = Base64.decodeURL(text.dropFirst(Self.prefix.count)),
            bytes.count == Self.payloadLength + Self.macLength
        else { return nil }
        func number(at start: Int) -> Int64 {
            Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
        }
        // Later times would overflow.
        guard (0...253_402_300_799).contains(number(at: 16)) else { return nil }
        userID = number(at: 0)
        epoch = number(at: 8)
        expiresAt = UnixTime(seconds: number(at: 16))
        mac = Array(bytes[Self.payloadLength...])
    }

    var text: String {
        Self.prefix + Base64.encodeURL(Self.payload(userID, epoch, expiresAt) + mac)
    }

    /// Whether it was made for the user in their present state.
    func isValid(for user: UserRecord, key: [UInt8], at now: UnixTime) -> Bool {
        let expected = SignInChallenge(for: user, expiresAt: expiresAt, key: key)
        return user.id == userID && user.epoch == epoch && constantTimeEqual(mac, expected.mac) && now < expiresAt
    }

    private static func payload(_ userID: Int64, _ epoch: Int64, _ expiresAt: UnixTime) -> [UInt8] {
        [userID, epoch, expiresAt.seconds].flatMap(\.bigEndianBytes)
    }
}

/// A code for one sign-in without the authenticator app: ten characters of Base32, which are 50 random bits, written in two groups.
struct RecoveryCode: Sendable {
    /// The number of codes that a user gets.
    static let count = 10
    private static let length = 10

    private let characters: String

    /// Makes a new code.
    init() {
        characters = String(Base32.encode(Random.bytes(7)).prefix(Self.length)).lowercased()
    }

    /// Reads a code; spaces, hyphens and capital letters make no difference. `nil` if the text has another length or other
    /// characters.
    init?(text: String) {
        let characters = text.lowercased().filter { $0 != "-" && $0 != " " }
        guard characters.utf8.count == Self.length,
            characters.utf8.allSatisfy({ Base32.alphabet.contains($0 & 0xDF) || (0x32...0x37).contains($0) })
        else { return nil }
        self.characters = characters
    }

    /// The code for people, e.g. `k5j2x-q7ab3`.
    var text: String { "\(characters.prefix(Self.length / 2))-\(characters.suffix(Self.length / 2))" }

    /// Returns the digest that is stored.
    func digest(of userID: Int64, pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("recovery \(userID) \(characters)".utf8))
    }
}
