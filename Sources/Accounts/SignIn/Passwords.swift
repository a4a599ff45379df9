import Basics
import CArgon2
import Crypto
import GRPCWire
import RPC
import Synchronization

/// Password hashing with argon2id, off the event loops and one at a time: each run takes 19 MiB and about 20 ms.
///
/// Passwords from known addresses wait in a queue of their own, which alternates with the queue of unknown addresses, so that any
/// number of unknown callers cannot exclude the others. In it organizations take turns, so that the users of one, from however many
/// addresses, cannot exclude those of another.
final class Passwords: Sendable {
    /// The party for whom a password is hashed.
    enum Owner: Sendable {
        /// An address from which nobody has signed in to the account.
        case stranger(address: String)
        /// An address from which somebody has signed in to the account, of an organization.
        case known(address: String, organizationID: Int64)
        /// An organization whose admin creates accounts.
        case organization(Int64)
        /// The gateway itself.
        case gateway

        /// The path in its queue.
        fileprivate var path: [String] {
            switch self {
            case .stranger(let address): [address]
            case .known(let address, let organizationID): ["\(organizationID)", address]
            case .organization(let id): ["\(id)", ""]
            case .gateway: ["", ""]
            }
        }
    }

    private struct Job: Sendable {
        let run: @Sendable () -> Void
        let refuse: @Sendable () -> Void
    }

    private struct Waiting {
        var strangers: FairQueue<Job>
        var known: FairQueue<Job>
        /// Whether the next job comes from the queue of known addresses, if that has one.
        var isTurnOfKnown = true
        var isRunning = false

        mutating func append(_ job: Job, of owner: Owner) -> Job? {
            if case .stranger = owner { return strangers.append(job, of: owner.path) }
            return known.append(job, of: owner.path)
        }

        /// Returns the next job; without one, none is running any more.
        mutating func next() -> Job? {
            defer { isTurnOfKnown.toggle() }
            let job =
                isTurnOfKnown
                ? known.popFirst() ?? strangers.popFirst() : strangers.popFirst() ?? known.popFirst()
            isRunning = job != nil
            return job
        }
    }

    /// OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane.
    private static let memoryKiB: UInt32 = 19_456
    private static let passes: UInt32 = 2
    private static let lanes: UInt32 = 1
    private static let prefix = "$argon2id$v=19$m=19456,t=2,p=1$"

    private let waiting: Lock<Waiting>
    private let worker = Worker.serial("passwords")

    /// - Parameter capacity: the number of jobs that may wait in each of the two queues.
    init(capacity: Int) {
        waiting = Lock(Waiting(strangers: FairQueue(capacity: capacity), known: FairQueue(capacity: capacity)))
    }

    /// Returns the encoded hash, with its parameters and a new salt.
    ///
    /// - Throws: UNAVAILABLE if too many jobs wait.
    func hash(_ password: Secret, for owner: Owner) async throws -> String {
        try await run(for: owner) { try Self.encode(password) }
    }

    /// Whether `password` is the one that was hashed to `encoded`. Without an account (`nil`) the same work is done and the result
    /// is false, so that the response time does not reveal which names exist.
    ///
    /// - Throws: UNAVAILABLE if too many jobs wait.
    func verify(_ password: Secret, against encoded: String?, for owner: Owner) async throws -> Bool {
        try await run(for: owner) {
            guard let encoded else {
                _ = try Self.encode(password)
                return false
            }
            let bytes = password.exposed
            return argon2id_verify(encoded, bytes, bytes.count) == ARGON2_OK.rawValue
        }
    }

    /// Whether a hash was made with weaker parameters than the current ones.
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
            throw RPCError(
                bare: .unavailable, "the gateway cannot hash the password now: try again later",
                retryAfterMilliseconds: 1000)
        }
        return String(decoding: encoded.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func run<T: Sendable>(for owner: Owner, _ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job {
                continuation.resume(with: Result { try work() })
            } refuse: {
                continuation.resume(throwing: Self.tooMany)
            }
            let (refused, starts) = waiting.withLock { waiting in
                let refused = waiting.append(job, of: owner)
                defer { waiting.isRunning = true }
                return (refused, !waiting.isRunning)
            }
            refused?.refuse()
            if starts { worker.post { self.runAll() } }
        }
    }

    private func runAll() {
        while let job = waiting.withLock({ $0.next() }) { job.run() }
    }

    private static let tooMany = RPCError(
        bare: .unavailable, "too many logins are in progress: try again later", retryAfterMilliseconds: 1000)
}
