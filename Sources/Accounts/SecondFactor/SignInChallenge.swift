import Basics
import Crypto

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
