import Basics
import Dispatch
import Glibc
import HTTPClient
import StoreClient
package import StoreProtocol
import Synchronization

/// A bucket of an object store for archives.
package struct BackupBucket: BackupDestination {
    /// The bucket; the key is the prefix of all archives' keys, empty or with a slash at its end.
    package let place: StoreObject
    package let credentials: SigningCredentials
    /// The smallest size of a part in bytes; larger archives get larger parts.
    package let partSize: Int64
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
    package let authorities: String?
    /// The time for which failures without progress are retried.
    var retryDuration: Duration = .seconds(300)

    package init(_ place: StoreObject, credentials: SigningCredentials, partSize: Int64, authorities: String?) {
        self.place = place
        self.credentials = credentials
        self.partSize = partSize
        self.authorities = authorities
    }

    package var name: String { "\(place.endpoint.text)/\(place.bucket)/\(place.key)" }

    package func begin(_ archive: String, _ plan: ArchivePlan) async throws -> any ArchiveUpload {
        let store = store(archive)
        let multipartID = try await retrying.run("begin") { try await store.initiateMultipart() }
        do {
            try await plan.began(multipartID)
            return try BucketArchiveUpload(
                store, multipartID: multipartID, partSize: partSize(for: plan.expectedBytes), retrying: retrying,
                spool: "\(plan.scratch)/\(archive).part")
        } catch {
            try? await store.abort(multipartID)
            throw error
        }
    }

    package func size(of archive: String) async throws -> Int64? {
        let store = store(archive)
        return try await retrying.run("size") { try await store.head()?.size }
    }

    package func source(of archive: String) throws -> any ArchiveSource {
        BucketArchiveSource(store(archive), retrying: retrying)
    }

    package func remove(_ archive: String) async throws {
        let store = store(archive)
        try await retrying.run("removal") { try await store.delete() }
    }

    package func abandon(_ archive: String, multipartID: String?) async throws {
        guard let multipartID else { return }
        let store = store(archive)
        try await retrying.run("abort") { try await store.abort(multipartID) }
    }

    private func store(_ archive: String) -> StoreClient {
        StoreClient(
            StoreObject(
                endpoint: place.endpoint, region: place.region, bucket: place.bucket, key: place.key + archive,
                dialect: place.dialect),
            credentials: credentials, over: HTTPConnection(HTTPConnection.Options(authorities: authorities)),
            clock: SystemClock())
    }

    /// Returns a size, in whole MiB if it is not the configured one, with which an archive a quarter larger than expected has
    /// fewer parts than the limit.
    func partSize(for expectedBytes: Int64) -> Int64 {
        let needed = (expectedBytes + expectedBytes / 4) / PartRange.maximumCount + 1
        return max(partSize, (needed + 0xF_FFFF) & ~0xF_FFFF)
    }

    private var retrying: Retrying {
        Retrying(policy: RetryPolicy(retryDuration: retryDuration)) { error in
            switch error {
            case TransferFailure.connection: .transient()
            case let refusal as StoreRefusal where [.retry, .sendAgain].contains(refusal.retryability): .transient()
            default: .permanent
            }
        } notice: { _, _, _ in
        }
    }
}

/// An archive in a bucket as input. It blocks, so it is read on a thread of its own.
final class BucketArchiveSource: ArchiveSource {
    private let store: StoreClient
    private let retrying: Retrying
    /// The size of the archive; `nil` before the first read.
    private var size: Int64?
    private var position: Int64 = 0
    private var fetched: ArraySlice<UInt8> = []

    init(_ store: StoreClient, retrying: Retrying) {
        self.store = store
        self.retrying = retrying
    }

    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if fetched.isEmpty {
                guard let next = try next() else { break }
                fetched = next[...]
            }
            let piece = fetched.prefix(count - bytes.count)
            bytes += piece
            fetched = fetched.dropFirst(piece.count)
        }
        return bytes
    }

    /// Returns the next bytes; `nil` at the end.
    private func next() throws -> [UInt8]? {
        let size = try size ?? wait { [store] in try await store.head()?.size ?? 0 }
        self.size = size
        let range = position..<min(size, position + StoreClient.maximumContentBytes)
        guard !range.isEmpty else { return nil }
        position = range.upperBound
        return try wait { [store] in try await store.contents(range) }
    }

    private func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let result = Lock<Result<T, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task { [retrying] in
            let outcome: Result<T, any Error>
            do {
                outcome = .success(try await retrying.run("read", body))
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
            end.signal()
        }
        end.wait()
        guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }
}

/// An archive that is being written to a bucket, part by part. A part is in a file of this machine until the store has it.
actor BucketArchiveUpload: ArchiveUpload {
    private let store: StoreClient
    private let multipartID: String
    private let partSize: Int64
    private let retrying: Retrying
    private let spool: String
    private let descriptor: Int32
    private var spooled: Int64 = 0
    private var parts: [StorePart] = []

    /// - Parameter spool: the path of the part's file, which is created and removed.
    init(
        _ store: StoreClient, multipartID: String, partSize: Int64, retrying: Retrying, spool: String
    ) throws {
        self.store = store
        self.multipartID = multipartID
        self.partSize = partSize
        self.retrying = retrying
        self.spool = spool
        descriptor = open(spool, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("create", spool) }
    }

    deinit {
        close(descriptor)
        unlink(spool)
    }

    func receive(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int(min(partSize - spooled, Int64(rest.count)))))
            try await Worker.disk.run { [descriptor] in try FileSink(descriptor).write(piece) }
            spooled += Int64(piece.count)
            rest = rest.dropFirst(piece.count)
            if spooled == partSize { try await send() }
        }
    }

    func finish() async throws {
        if spooled > 0 { try await send() }
        do {
            try await retrying.run("completion") { [store, multipartID, parts] in
                _ = try await store.complete(multipartID, parts: parts)
            }
        } catch let refusal as StoreRefusal where refusal.code == "NoSuchUpload" {
            // The reply to an earlier attempt may have been lost.
            let size = parts.reduce(0) { $0 + $1.size }
            guard try await store.head()?.size == size else { throw refusal }
        }
    }

    func abandon() async {
        try? await store.abort(multipartID)
    }

    private func send() async throws {
        let number = parts.count + 1
        guard Int64(number) <= PartRange.maximumCount else {
            throw DataDirectory.Problem(
                description: "the archive has more than \(PartRange.maximumCount) parts: raise part_size_bytes")
        }
        let file = try FileReader(spool)
        guard let piece = try await StoreClient.Piece(reading: 0..<spooled, of: file) else {
            throw Self.failure("read", spool)
        }
        let part = try await retrying.run("part \(number)") { [store, multipartID] in
            try await store.put(part: number, of: multipartID, piece) { _ in }
        }
        parts.append(part)
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Self.failure("empty", spool)
        }
        spooled = 0
    }

    private static func failure(_ verb: String, _ path: String) -> DataDirectory.Problem {
        DataDirectory.Problem.last("cannot \(verb) \(path)")
    }
}
