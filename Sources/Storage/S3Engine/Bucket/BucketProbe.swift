package import Basics
import Crypto
import HTTPClient
package import StoreClient
import StoreProtocol

/// An examination of a bucket before an engine uses it: its properties are read, and an object below the prefix is stored, read,
/// listed and removed.
package struct BucketProbe {
    /// The folder of the objects, below the prefix.
    static let folder = "probe/"
    /// The clock differences from which on there is a warning, and a refusal: stores refuse signatures of another time.
    private static let noticedDifference = Duration.seconds(5)
    private static let refusedDifference = Duration.minutes(5)

    let configuration: S3EngineConfiguration
    let store: S3Client
    private let clock: any WallClock
    var report = BucketReport()
    /// Whether the store cannot be used at all, so that further requests would only fail in the same way.
    private var isUnusable = false

    private init(_ configuration: S3EngineConfiguration, _ store: S3Client, clock: any WallClock) {
        self.configuration = configuration
        self.store = store
        self.clock = clock
    }

    /// Examines the bucket.
    ///
    /// - Parameter store: see ``S3EngineConfiguration/controlClient(_:clock:)``.
    /// - Throws: `CancellationError` only; every other failure is a finding.
    package static func run(
        _ configuration: S3EngineConfiguration, _ store: S3Client, clock: any WallClock
    ) async throws -> BucketReport {
        var probe = BucketProbe(configuration, store, clock: clock)
        try await probe.examineProperties()
        try await probe.examineObjects()
        return probe.report
    }

    // MARK: Requests

    mutating func add(_ severity: BucketFinding.Severity, _ message: String) {
        report.findings.append(BucketFinding(severity, message))
    }

    /// Sends a request; `nil` after a failure, which is a finding.
    ///
    /// - Parameters:
    ///   - action: the purpose of the request, as in "may not …".
    ///   - right: the name of the right in a policy.
    ///   - isRequired: whether the bucket is refused if the credentials lack the right.
    mutating func attempt<Result>(
        _ action: String, right: String, isRequired: Bool = true, _ request: (S3Client) async throws -> Result
    ) async throws -> Result? {
        guard !isUnusable else { return nil }
        do {
            return try await request(store)
        } catch let error as CancellationError {
            throw error
        } catch let refusal as StoreRefusal where Self.isOfRights(refusal) {
            let rest = isRequired ? "" : " Until then this is not checked."
            add(isRequired ? .refusal : .warning, "The credentials may not \(action): allow \(right) for them.\(rest)")
        } catch let refusal as StoreRefusal {
            add(refusal, while: action)
        } catch let failure as TransferFailure {
            isUnusable = true
            add(.refusal, "The engine at \(configuration.bucket.endpoint.text) cannot be used: \(failure).")
        } catch {
            isUnusable = true
            add(.refusal, "The credentials cannot be loaded: \(error).")
        }
        return nil
    }

    private static func isOfRights(_ refusal: StoreRefusal) -> Bool {
        refusal.kind == .accessDenied && !["SignatureDoesNotMatch", "RequestTimeTooSkewed"].contains(refusal.code)
    }

    private mutating func add(_ refusal: StoreRefusal, while action: String) {
        let place = "\(configuration.bucket.name) at \(configuration.bucket.endpoint.text)"
        switch (refusal.status, refusal.code) {
        case (_, "NoSuchBucket"):
            isUnusable = true
            add(.refusal, "The bucket \(place) does not exist: create it, or correct objects.bucket.")
        case (_, "RequestTimeTooSkewed"):
            isUnusable = true
            let time = refusal.serverTime.map { ", which is at \(RFC3339.text($0))" } ?? ""
            add(.refusal, "This machine's clock differs too much from the engine's\(time): correct it.")
        case (_, "SignatureDoesNotMatch"), (401, _):
            isUnusable = true
            add(
                .refusal, "The engine does not accept the credentials: \(refusal). Check the secret and objects.region."
            )
        case (300..<400, _), (_, "AuthorizationHeaderMalformed"):
            isUnusable = true
            add(.refusal, "The bucket \(place) has another endpoint or region: \(refusal).")
        default:
            if refusal.kind == .expiredCredentials { isUnusable = true }
            add(.refusal, "The engine refused to \(action): \(refusal) (HTTP \(refusal.status)).")
        }
    }

    // MARK: Objects

    /// The metadata of the probe: those of a segment must come back, since they say what it is if no row does.
    private static let metadata = [("probe", "1"), ("key", "a2V5+/8=")]

    private var properties: S3Properties {
        var properties = configuration.properties
        properties.metadata = Self.metadata.map { (name: $0, value: $1) }
        return properties
    }

    private mutating func examineObjects() async throws {
        guard !isUnusable else { return }
        let key = configuration.prefix + Self.folder + Random.hex(16)
        let bytes = Array("A probe of data-gateway, which may be removed. \(key)".utf8)
        guard let stored = try await storeProbe(key, bytes) else { return }
        try await examineConditions(key, bytes)
        try await readProbe(key, bytes)
        let isListed = try await attempt("list objects", right: "s3:ListBucket") {
            try await $0.list(key).objects.contains { $0.key == key && $0.size == Int64(bytes.count) }
        }
        if isListed == false {
            add(
                .refusal,
                "A list of the bucket does not contain an object that was stored before: the engine is not consistent.")
        }
        examineETag(stored.etag, bytes)
        try await removeProbe(key)
    }

    private mutating func storeProbe(_ key: String, _ bytes: [UInt8]) async throws -> S3Stored? {
        let before = clock.now()
        let stored = try await attempt("store objects", right: "s3:PutObject") { [properties] in
            try await $0.store(key, bytes, properties)
        }
        guard let stored else { return nil }
        examineClock(stored.answeredAt, between: before, and: clock.now())
        return stored
    }

    private mutating func examineClock(_ time: UnixTime?, between begin: UnixTime, and end: UnixTime) {
        guard let time else {
            return add(.warning, "The engine's responses have no Date: no other gateway can take over the prefix.")
        }
        let difference = time.clockDifference(between: begin, and: end, resolution: .seconds(1))
        report.clockDifference = difference
        let size = difference.magnitude
        let text =
            "This machine's clock is \(size.wholeSeconds) seconds \(difference < .zero ? "ahead of" : "behind") the engine's"
        if size > Self.refusedDifference {
            add(.refusal, "\(text), above 300 seconds: correct it, because engines refuse such signatures.")
        } else if size > Self.noticedDifference {
            add(.warning, "\(text): correct it before it reaches 300 seconds.")
        }
    }

    /// Determines whether the store keeps an object that a conditional PUT must not replace.
    private mutating func examineConditions(_ key: String, _ bytes: [UInt8]) async throws {
        var isNew = properties
        isNew.isNew = true
        var matching = properties
        matching.ifMatch = "\"00000000000000000000000000000000\""
        guard let first = try await isRefused(key, bytes, isNew), let second = try await isRefused(key, bytes, matching)
        else { return }
        if first, second {
            guard let form = try await examineTags(key, bytes) else { return }
            report.comparesBareTags = form == .bare
            report.honorsConditions = form != .none
            guard report.honorsConditions else {
                return add(
                    .warning,
                    "The engine refuses a PUT whose If-Match is the ETag of the object: the fence against a second gateway "
                        + "on the prefix is off. Two gateways that start at the same time notice each other only after 10 seconds."
                )
            }
            return add(.fact, "The engine honors conditional PUT: a second gateway on the prefix is refused at once.")
        }
        let ignored = [first ? nil : "If-None-Match: *", second ? nil : "If-Match"].compactMap { $0 }
        add(
            .warning,
            "The engine ignores \(ignored.joined(separator: " and ")) of a PUT: the fence against a second gateway on the "
                + "prefix is off. Two gateways that start at the same time notice each other only after 10 seconds.")
    }

    /// The form of ETags that the store recognizes in `If-Match`.
    private enum TagForm {
        case quoted
        case bare
        case none
    }

    /// Determines in which form the store recognizes the ETag of an object; `nil` after a failure.
    private mutating func examineTags(_ key: String, _ bytes: [UInt8]) async throws -> TagForm? {
        let content = try await attempt("read objects", right: "s3:GetObject") {
            try await $0.contents(key, limit: 64 << 10)
        }
        guard let etag = content??.etag else { return nil }
        for (form, tag) in [(TagForm.quoted, etag), (.bare, etag.withoutQuotes)] {
            var matching = properties
            matching.ifMatch = tag
            guard let isRefused = try await isRefused(key, bytes, matching) else { return nil }
            if !isRefused { return form }
        }
        return TagForm.none
    }

    /// Whether a conditional PUT of an existing object is refused because of its condition; `nil` after another failure.
    private mutating func isRefused(_ key: String, _ bytes: [UInt8], _ properties: S3Properties) async throws -> Bool? {
        try await attempt("store objects", right: "s3:PutObject") { store in
            do {
                _ = try await store.store(key, bytes, properties)
                return false
            } catch let refusal as StoreRefusal where refusal.kind == .preconditionFailed {
                return true
            } catch let refusal as StoreRefusal where refusal.status == 501 || refusal.code == "NotImplemented" {
                return false
            }
        }
    }

    private mutating func readProbe(_ key: String, _ bytes: [UInt8]) async throws {
        let right = "s3:GetObject"
        let content = try await attempt("read objects", right: right) { try await $0.contents(key, limit: 64 << 10) }
        if let content, content?.bytes != bytes {
            add(.refusal, "The engine returned other bytes than were stored.")
        }
        let range = try await attempt("read objects", right: right) { try await $0.download(key, 2..<10).rest().body }
        if let range, range != Array(bytes[2..<10]) {
            add(.refusal, "The engine returned other bytes than the range that was requested.")
        }
        let found = try await attempt("read objects", right: right) { try await $0.head(key) }
        if let found, found?.size != Int64(bytes.count) {
            add(.refusal, "The engine reports another size of an object than was stored.")
        }
        if let found, !Self.metadata.allSatisfy({ found?.metadata[$0] == $1 }) {
            add(
                .refusal,
                "The engine does not return the metadata of an object (x-amz-meta-…): without the database, nothing shows "
                    + "what its bytes are.")
        }
    }

    private mutating func examineETag(_ etag: String, _ bytes: [UInt8]) {
        report.hasMD5ETags = ETag.matches(etag, Hex.lower(Digest.md5(bytes)))
        guard !report.hasMD5ETags else { return }
        add(
            .warning,
            "The ETag of an object is not its MD5, as in a bucket that is encrypted with a key management service: the "
                + "engine compares the MD5 that is sent with each part instead, and the gateway cannot check it afterwards."
        )
    }

    private mutating func removeProbe(_ key: String) async throws {
        guard !isUnusable else {
            _ = try? await store.delete(key)
            return
        }
        let failures = try await attempt("remove objects", right: "s3:DeleteObject") { store -> [S3DeletionFailure]? in
            do {
                return try await store.delete([key])
            } catch let refusal as StoreRefusal where refusal.status == 501 || refusal.code == "NotImplemented" {
                try await store.delete(key)
                return nil
            }
        }
        guard let failures else { return }
        report.removesMany = failures != nil
        if failures == nil {
            add(.warning, "The engine does not know DeleteObjects: each removal is a request of its own.")
        }
        if let failure = failures?.first {
            let hint =
                failure.code == "AccessDenied" ? "allow s3:DeleteObject, and check the object lock" : failure.message
            return add(.refusal, "The engine did not remove the probe \(key) (\(failure.code)): \(hint).")
        }
        let found = try await attempt("read objects", right: "s3:GetObject") { try await $0.head(key) }
        if let found, found != nil { add(.refusal, "The probe \(key) exists after its removal.") }
    }
}
