import CArgon2
import Dispatch
import Platform
import RPC

/// Password hashing with argon2id, off the event loops and one at a time: each run takes 19 MiB and some 20 ms.
final class Passwords: Sendable {
    /// OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane.
    private static let memoryKiB: UInt32 = 19_456
    private static let passes: UInt32 = 2
    private static let lanes: UInt32 = 1
    private static let prefix = "$argon2id$v=19$m=19456,t=2,p=1$"

    /// How many may wait for their turn.
    private let capacity: Int
    private let waiting = Lock(0)
    private let queue = DispatchQueue(label: "passwords")

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The encoded hash, with its parameters and a fresh salt.
    ///
    /// - Throws: UNAVAILABLE when too many wait.
    func hash(_ password: Secret) async throws -> String {
        try await run { try Self.encode(password) }
    }

    /// Whether `password` made `encoded`. Where there is no such account (`nil`) the same work is done, and the answer
    /// is no: how long it takes must not tell which names exist.
    ///
    /// - Throws: UNAVAILABLE when too many wait.
    func verify(_ password: Secret, against encoded: String?) async throws -> Bool {
        try await run {
            guard let encoded else {
                _ = try Self.encode(password)
                return false
            }
            let bytes = password.exposed
            return argon2id_verify(encoded, bytes, bytes.count) == ARGON2_OK.rawValue
        }
    }

    /// Whether a hash was made with weaker parameters than today's.
    func isOutdated(_ encoded: String) -> Bool {
        !encoded.hasPrefix(Self.prefix)
    }

    private static func encode(_ password: Secret) throws -> String {
        let bytes = password.exposed
        let salt = Random.bytes(16)
        var encoded = [CChar](repeating: 0, count: 128)
        let code = argon2id_hash_encoded(
            passes, memoryKiB, lanes, bytes, bytes.count, salt, salt.count, 32, &encoded, encoded.count)
        guard code == ARGON2_OK.rawValue else {
            throw RPCError(bare: .unavailable, "the password cannot be checked now", retryAfterMilliseconds: 1000)
        }
        return String(decoding: encoded.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let admitted = waiting.withLock { waiting in
            guard waiting < capacity else { return false }
            waiting += 1
            return true
        }
        guard admitted else {
            throw RPCError(bare: .unavailable, "too many logins at once", retryAfterMilliseconds: 1000)
        }
        defer { waiting.withLock { $0 -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
