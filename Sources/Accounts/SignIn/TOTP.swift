import Basics
import Crypto

/// Time-based one-time passwords of an authenticator app (RFC 6238), with the parameters that all apps support: HMAC-SHA-1, six
/// digits, 30 seconds.
struct TOTP: Sendable {
    /// The length of a secret in bytes, that of the hash (RFC 4226, section 4).
    static let secretLength = 20
    static let digits = 6
    static let periodSeconds: Int64 = 30
    /// The number of steps by which the clock of the app may differ, in both directions (RFC 6238, section 5.2).
    static let skew: Int64 = 1

    let secret: Secret

    /// Makes a new secret.
    init() {
        self.init(secret: Secret(Random.bytes(Self.secretLength)))
    }

    init(secret: Secret) {
        self.secret = secret
    }

    /// Returns the number of the step that contains a time.
    static func step(at time: UnixTime) -> Int64 {
        time.seconds / periodSeconds
    }

    /// Returns the code of a step (RFC 4226, section 5.3).
    ///
    /// - Parameter digits: 6 to 8.
    func code(step: Int64, digits: Int = TOTP.digits) -> String {
        let hash = HMAC.sha1(key: secret.exposed, step.bigEndianBytes)
        let offset = Int(hash[hash.count - 1] & 0x0F)
        let number = UInt32(bigEndianBytes: hash[offset..<offset + 4]) & 0x7FFF_FFFF
        let modulus = (0..<digits).reduce(UInt32(1)) { power, _ in power * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// Returns the step whose code it is, near the step of `now`; `nil` if no such step has this code.
    ///
    /// - Parameter last: the step of the last accepted code; it and earlier ones are not accepted again.
    func step(of code: String, at now: UnixTime, after last: Int64) -> Int64? {
        let given = Array(code.utf8)
        let current = Self.step(at: now)
        return (current - Self.skew...current + Self.skew).first { step in
            step > last && constantTimeEqual(Array(self.code(step: step).utf8), given)
        }
    }

    /// The secret for people who type it.
    var text: String { Base32.encode(secret.exposed) }

    /// Returns the secret for an app, as an address in the format of Google Authenticator.
    ///
    /// - Parameters:
    ///   - issuer: the name of the service.
    ///   - account: the name of the account.
    func uri(issuer: String, account: String) -> String {
        let (issuer, account) = (Self.escaped(issuer), Self.escaped(account))
        return "otpauth://totp/\(issuer):\(account)?secret=\(text)&issuer=\(issuer)"
            + "&algorithm=SHA1&digits=\(Self.digits)&period=\(Self.periodSeconds)"
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "%\(Hex.lower([byte]).uppercased())"
        }.joined()
    }
}
