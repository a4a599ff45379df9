import Basics
import Crypto
import Dispatch
import Glibc
import HTTPClient
import ObjectStore
import StoreClient
import StoreProtocol
import Synchronization

/// The calls of the engine on its bucket, below a prefix. They block; failures are `StorageFailure`.
struct SegmentBucket: Sendable {
    /// For bodies: an exchange takes as long as its client.
    let transfers: S3Client
    /// For calls that end soon, which do not wait for a body.
    let control: S3Client
    let configuration: S3EngineConfiguration
    let report: BucketReport
    let budget: RetryBudget
    let activity: BucketActivity

    init(
        _ configuration: S3EngineConfiguration, _ report: BucketReport, credentials: any CredentialSource,
        clock: any WallClock
    ) {
        activity = BucketActivity(clock: clock)
        transfers = configuration.client(credentials, clock: clock, observer: activity)
        control = configuration.upkeepClient(credentials, clock: clock, observer: activity)
        self.configuration = configuration
        self.report = report
        budget = RetryBudget(configuration.retryPolicy)
    }

    static let data = "data"
    static let facts = "facts"
    static let quarantine = "quarantine"

    func key(of segmentID: String) -> String { key(Self.data, of: segmentID) }

    func factsKey(of fileID: String) -> String { key(Self.facts, of: fileID) }

    func key(_ kind: String, of id: String) -> String { "\(configuration.prefix)\(kind)/\(id.prefix(2))/\(id)" }

    // MARK: Calls

    /// Removes objects; those that do not exist count as removed.
    ///
    /// - Parameter keys: at most ``S3Client/maximumDeletions``.
    /// - Returns: the keys that were not removed.
    func remove(_ keys: [String]) throws -> Set<String> {
        guard report.removesMany else {
            return try Self.call { [control] in
                for key in keys { try await control.delete(key) }
                return []
            }
        }
        return try Self.call { [control] in Set(try await control.delete(keys).map(\.key)) }
    }

    func hasFacts(of fileID: String) throws -> Bool {
        let key = factsKey(of: fileID)
        return try Self.call { [control] in try await control.head(key) != nil }
    }

    /// - Parameter kind: `facts`, or `quarantine` for those of an upload that an operator has put aside.
    func write(_ facts: FactsDocument, of fileID: String, kind: String = Self.facts) throws {
        let key = key(kind, of: fileID)
        _ = try Self.call { [control, configuration] in
            try await control.put(key, facts.bytes, configuration.properties)
        }
    }

    /// - Throws: `StorageFailure.missing` without facts, or if they are damaged.
    func facts(of fileID: String, kind: String = Self.facts) throws -> FactsDocument {
        let key = key(kind, of: fileID)
        // A download of a missing object would count as a failure of the bucket.
        let bytes = try Self.call { [control] in
            try await control.head(key) == nil ? nil : try await control.download(key).rest().body
        }
        guard let bytes else { throw StorageFailure.missing }
        guard let document = FactsDocument(bytes) else { throw StorageFailure.missing }
        return document
    }

    // MARK: Upkeep

    /// Reads the record of the database; `nil` if the prefix has none.
    ///
    /// - Throws: ``PrefixOfAnotherGateway`` if it cannot be read.
    func identity() throws -> BucketIdentity? {
        // A download of a missing object would count as a failure of the bucket.
        let content = try Self.call { [control, key = identityKey] in
            try await control.head(key) == nil
                ? nil : try await control.contents(key, limit: BucketIdentity.maximumBytes)
        }
        guard let content else { return nil }
        guard let identity = BucketIdentity(content.bytes) else {
            throw PrefixOfAnotherGateway(name: configuration.name, storeID: nil)
        }
        return identity
    }

    func write(_ identity: BucketIdentity) throws {
        _ = try Self.call { [control, configuration, key = identityKey] in
            var properties = configuration.properties
            properties.contentType = "application/json"
            return try await control.put(key, identity.bytes, properties)
        }
    }

    private var identityKey: String { configuration.prefix + BucketIdentity.name }

    /// Calls `body` with all objects of a kind in the order of their ids, page by page.
    ///
    /// - Parameters:
    ///   - kind: the name of the folder below the prefix.
    ///   - body: receives a page, of objects with valid ids, and the id up to which all were listed; `nil` = the last page.
    func forEachPage(
        of kind: String, _ body: (_ page: [(id: String, object: S3Listed)], _ last: String?) throws -> Void
    ) throws {
        let prefix = "\(configuration.prefix)\(kind)/"
        var token: String?
        repeat {
            let page = try Self.call { [control, token] in try await control.list(prefix, after: token) }
            token = page.next
            let listed = page.objects.compactMap { object in
                Self.id(in: object.key.dropFirst(prefix.utf8.count)).map { (id: $0, object: object) }
            }
            // A page without an id is followed by one that covers it.
            guard !listed.isEmpty || token == nil else { continue }
            try body(listed, token == nil ? nil : listed.last?.id)
        } while token != nil
    }

    /// Returns the id in `<2 hex>/<id>`; `nil` for other keys.
    private static func id(in name: Substring) -> String? {
        let id = name.dropFirst(3)
        let isValid = id.utf8.count == 32 && Hex.decode(String(id)) != nil && name == "\(id.prefix(2))/\(id)"
        return isValid ? String(id) : nil
    }

    /// Returns the properties of a segment; `nil` if it does not exist.
    func head(_ segmentID: String) throws -> S3Description? {
        try Self.call { [control, key = key(of: segmentID)] in try await control.head(key) }
    }

    /// Runs a call of the bucket.
    static func call<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
        do {
            return try BlockingCall.run(work)
        } catch {
            throw StorageFailure(ofEngine: error)
        }
    }
}

/// The limit of repeated requests, so that they do not keep down a bucket that is overloaded: a burst, and some a second.
final class RetryBudget: Sendable {
    private static let burst = 100
    private static let refill = 10

    private let bucket = Lock(TokenBucket(burst: RetryBudget.burst, refill: RetryBudget.refill))
    private let policy: RetryPolicy
    private let retries = Atomic<Int>(0)
    private let surrenders = Atomic<Int>(0)

    init(_ policy: RetryPolicy) {
        self.policy = policy
    }

    /// Repeats a request as long as its failures are transient.
    ///
    /// - Parameter pause: waits before the next attempt, and returns whether there is one.
    /// - Throws: the last failure, as `StorageFailure`.
    func repeating<T>(
        pause: (Duration) -> Bool = { delay in
            usleep(UInt32(delay / .microseconds(1)))
            return true
        },
        _ attempt: () throws -> T
    ) throws -> T {
        var failures = 0
        let first = ContinuousClock.now
        while true {
            do {
                return try attempt()
            } catch {
                failures += 1
                guard let delay = delay(after: error, failures: failures, since: first), pause(delay) else {
                    throw givenUp(error)
                }
                retries.add(1, ordering: .relaxed)
            }
        }
    }

    /// The number of repeated requests.
    var retryCount: Int { retries.load(ordering: .relaxed) }

    /// The number of transfers that were given up after a transient failure.
    var givenUpCount: Int { surrenders.load(ordering: .relaxed) }

    /// Counts a transfer that is not repeated after this error.
    func givenUp(_ error: any Error) -> StorageFailure {
        if StorageFailure.isTransient(error) { surrenders.add(1, ordering: .relaxed) }
        return StorageFailure(ofEngine: error)
    }

    /// Returns the wait before a request is repeated.
    ///
    /// - Parameter failures: the number of failures so far, at least 1.
    /// - Returns: `nil` = it is not repeated.
    private func delay(after error: any Error, failures: Int, since first: ContinuousClock.Instant) -> Duration? {
        guard StorageFailure.isTransient(error) else { return nil }
        let elapsed = ContinuousClock.now - first
        guard
            let delay = policy.delay(
                failures: failures, elapsed: elapsed, least: nil, random: .random(in: 0...1)),
            bucket.withLock({ $0.take(at: DispatchTime.now().uptimeNanoseconds) })
        else { return nil }
        return delay
    }
}

extension StorageFailure {
    /// The codes of stores without space.
    private static let fullCodes: Set = [
        "QuotaExceeded", "InsufficientCapacity", "XMinioStorageFull", "InsufficientStorage", "EntityTooLarge",
    ]

    /// The failure of a call on a bucket.
    init(ofEngine error: any Error) {
        switch error {
        case let failure as StorageFailure: self = failure
        case let refusal as StoreRefusal
        where refusal.code == "NoSuchKey" || refusal.kind == .notFound && refusal.code.isEmpty:
            self = .missing
        case let refusal as StoreRefusal where Self.fullCodes.contains(refusal.code) || refusal.status == 507:
            self = .full
        case is CancellationError: self = .engine("the transfer to the object engine was ended")
        default: self = .engine("the object engine: \(error)")
        }
    }

    /// Whether the same request may succeed soon.
    static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case TransferFailure.connection: true
        case let refusal as StoreRefusal: [.retriable, .expiredCredentials].contains(refusal.kind)
        default: false
        }
    }
}
