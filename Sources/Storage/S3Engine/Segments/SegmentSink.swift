import Basics
import Crypto
import Dispatch
import ObjectStore
import StoreClient
import StoreProtocol
import Synchronization

/// Passes a body on to the bucket as one object, a segment.
///
/// A short body is held in memory until its end. A longer one is passed on as it arrives, if its length is known and its client is fast
/// enough; otherwise it is written to the ``Spool`` first, since a bucket ends a request without bytes after some seconds. What was passed
/// on cannot be sent again, so a failure is the client's to repeat; other bodies are sent again, each time as another object, because it
/// is not known whether the one before was stored.
final class SegmentSink: BodySink, @unchecked Sendable {  // `body` is used by one thread at a time
    /// The length up to which a body is held in memory, in bytes.
    static let held = 256 << 10
    /// The bytes of a body known to be longer after which it shows how fast its client is. Many such bodies arrive at the same time.
    static let sample = 96 << 10

    private enum Body {
        case held([UInt8])
        case spooled(SlowBody)
        case streamed(S3Upload)
    }

    private struct Sending {
        var upload: S3Upload?
        var isCancelled = false
    }

    let mayBlock = true
    private let bucket: SegmentBucket
    private let spool: Spool
    private let file: PendingFile
    private let length: Int64?
    private let began = ContinuousClock.now
    private var body = Body.held([])
    private let sending = Lock(Sending())
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter length: of the body; `nil` = unknown.
    init(_ file: PendingFile, in bucket: SegmentBucket, _ spool: Spool, length: Int64?) {
        self.file = file
        self.bucket = bucket
        self.spool = spool
        self.length = length
    }

    func append(_ piece: UnsafeRawBufferPointer) throws {
        switch body {
        case .held(var bytes):
            body = .held([])
            bytes += piece
            guard bytes.count > threshold else {
                body = .held(bytes)
                return
            }
            try bytes.withUnsafeBytes(passOn)
        case .spooled(let spooled): try spooled.append(piece)
        case .streamed(let upload): try write(piece, to: upload)
        }
    }

    func finish(md5: [UInt8]) throws {
        if case .streamed(let upload) = body { return try complete(upload, md5) }
        try bucket.budget.repeating { delay in
            !sending.withLock { $0.isCancelled } && ended.wait(timeout: .now() + delay / .seconds(1)) == .timedOut
        } _: {
            try send(md5)
        }
    }

    func cancel() {
        let upload = sending.withLock { sending in
            sending.isCancelled = true
            return sending.upload
        }
        upload?.cancel()
        ended.signal()
    }

    // MARK: Ways of the body

    /// The bytes above which a body is not held any more.
    private var threshold: Int { length.map { $0 > Int64(Self.held) } == true ? Self.sample : Self.held }

    /// Decides on the way of a longer body, by its first bytes.
    private func passOn(_ bytes: UnsafeRawBufferPointer) throws {
        guard let length, bucket.report.hasMD5ETags, isFast(bytes.count) else {
            let spooled = try spool.makeBody()
            body = .spooled(spooled)
            return try spooled.append(bytes)
        }
        let upload: S3Upload
        do {
            upload = try begin(size: length, md5: nil)
        } catch {
            throw StorageFailure(ofEngine: error)
        }
        body = .streamed(upload)
        try write(bytes, to: upload)
    }

    private func isFast(_ count: Int) -> Bool {
        (ContinuousClock.now - began) / .seconds(1) * Double(bucket.configuration.spool.below) <= Double(count)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to upload: S3Upload) throws {
        do {
            // If it takes no more, the response says why.
            if try !upload.writeBlocking(bytes) { _ = try BlockingCall.run { try await upload.finish() } }
        } catch {
            throw bucket.budget.givenUp(error)
        }
    }

    private func complete(_ upload: S3Upload, _ md5: [UInt8]) throws {
        do {
            try compare(try BlockingCall.run { try await upload.finish() }, md5)
        } catch {
            throw bucket.budget.givenUp(error)
        }
    }

    /// Sends a body that can be sent again.
    private func send(_ md5: [UInt8]) throws {
        switch body {
        case .held(let bytes):
            let upload = try begin(size: Int64(bytes.count), md5: md5)
            if !bytes.isEmpty { _ = try bytes.withUnsafeBytes(upload.writeBlocking) }
            try compare(try BlockingCall.run { try await upload.finish() }, md5)
        case .spooled(let spooled):
            let upload = try begin(size: spooled.size, md5: md5)
            var isOpen = true
            try spooled.forEachPiece { if isOpen { isOpen = try upload.writeBlocking($0) } }
            try compare(try BlockingCall.run { try await upload.finish() }, md5)
        case .streamed: preconditionFailure("a body that is passed on cannot be sent again")
        }
    }

    /// Begins to store the segment under a key that was not used before.
    private func begin(size: Int64, md5: [UInt8]?) throws -> S3Upload {
        let (key, properties) = try file.nextAttempt(md5, bucket)
        let upload = try BlockingCall.run { [transfers = bucket.transfers] in
            try await transfers.upload(key, size: size, properties)
        }
        let isCancelled = sending.withLock { sending in
            sending.upload = upload
            return sending.isCancelled
        }
        if isCancelled { throw CancellationError() }
        return upload
    }

    private func compare(_ etag: String, _ md5: [UInt8]) throws {
        guard bucket.report.hasMD5ETags, !ETag.matches(etag, Hex.lower(md5)) else { return }
        throw StorageFailure.engine("the object engine stored other bytes than those that were sent to it")
    }
}
