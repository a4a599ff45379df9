package import Basics
import Checksums
package import Database
import DirectoryEngine
import Dispatch
import Glibc
package import ObjectStore
import S3Engine
import Synchronization

/// Copies the bytes of all objects from one engine to the other, while the store serves.
///
/// Each object is read once, stored in the target, compared with its checksum, and belongs to the target with one commit; then its bytes
/// in the other engine are removed. What was not copied when a process ended is copied by the next one. Multipart uploads end where
/// they began, and their objects are copied then.
package final class EngineCopy: Sendable {
    /// The state of a copy.
    package enum Phase: Sendable, Equatable {
        /// It was not begun, or was stopped.
        case idle
        case running
        /// It waits for multipart uploads that are not completed.
        case waitingForUploads
        /// The engine does not answer; it tries again.
        case interrupted(String)
        /// Some objects cannot be copied.
        case failed
        case complete
    }

    /// The progress of this process.
    package struct Progress: Sendable {
        package var phase = Phase.idle
        package var copiedObjects = 0
        package var copiedBytes: Int64 = 0
        /// The finished objects that are not copied yet.
        package var remainingObjects = 0
        package var remainingBytes: Int64 = 0
        /// The multipart uploads that are not completed, and whose bytes are not in the target.
        package var remainingUploads = 0
        /// The objects that cannot be copied; at most ``mostFailures``.
        package var failures: [Failure] = []
    }

    package struct Failure: Sendable {
        package let place: StoredObject.Place
        package let reason: String
    }

    /// The number of objects that are copied at a time.
    private static let threads = 4
    /// The number of objects that are read from the database at a time.
    private static let page = 256
    private static let mostFailures = 1000
    /// The wait for uploads, and for an engine that does not answer.
    private static let pause = DispatchTimeInterval.seconds(5)

    private struct Stopped: Error {}

    private struct State {
        var progress = Progress()
        /// The files of the objects that cannot be copied.
        var failedIDs: Set<String> = []
        var isRunning = false
        var isRepeated = false
        var isStopped = false
    }

    private let engines: PairedEngines
    private let database: Database
    private let facts: FactsWriter
    private let clock: any WallClock
    private let coordinator = Worker.serial("store.copy")
    private let copiers = Worker.thread("store.copy.object")
    private let wakeUp = DispatchSemaphore(value: 0)
    private let state = Lock(State())

    init(_ engines: PairedEngines, _ database: Database, _ facts: FactsWriter, clock: any WallClock = SystemClock()) {
        self.engines = engines
        self.database = database
        self.facts = facts
        self.clock = clock
    }

    private var target: String { engines.target.rawValue }
    /// Whether the source is the bucket.
    private var sourceIsBucket: Bool { engines.target == .directory }

    // MARK: Control

    var progress: Progress { state.withLock { $0.progress } }

    /// Returns the progress, with what remains to be copied if the copy does not run.
    package func currentProgress() throws -> Progress {
        if state.withLock({ !$0.isRunning }) { _ = try count() }
        return progress
    }

    /// Returns the beginning and the end of the copy; `nil` without one.
    package func record() throws -> (begunAt: UnixTime, endedAt: UnixTime?)? {
        try database.readBlocking { [target] in try StoreRecords($0).engineCopy(target: target) }
    }

    /// Begins the copy, or continues one that failed for some objects.
    ///
    /// - Parameter record: writes what is recorded about it, in the same transaction.
    package func begin(_ record: @escaping @Sendable (Connection) throws -> Void = { _ in }) async throws {
        let now = clock.now()
        try await database.write { [target] connection in
            try record(connection)
            try StoreRecords(connection).beginEngineCopy(target: target, at: now)
        }
        start()
    }

    /// Stops the copy; it can be begun again.
    ///
    /// - Parameter record: writes what is recorded about it, in the same transaction.
    package func stop(_ record: @escaping @Sendable (Connection) throws -> Void = { _ in }) async throws {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
        await coordinator.run {}
        try await database.write { [target] connection in
            try record(connection)
            try StoreRecords(connection).forgetEngineCopy(target: target)
        }
        set(.idle)
    }

    /// Continues the copy of an earlier process.
    func resume() throws {
        guard let record = try record() else { return }
        guard record.endedAt != nil else { return start() }
        coordinator.post { [self] in
            // A restored database may have objects in the source again.
            if let left = try? count(), left.objects + left.uploads == 0 { set(.complete) }
        }
    }

    /// Stops the threads soon; the next process continues.
    func stopThreads() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    func drain() { coordinator.drain() }

    private func start() {
        let begins = state.withLock { state in
            state.isRepeated = state.isRunning
            guard !state.isRunning else { return false }
            (state.isRunning, state.isStopped, state.failedIDs, state.progress) = (true, false, [], Progress())
            state.progress.phase = .running
            return true
        }
        guard begins else { return }
        coordinator.post { [self] in
            repeat { run() } while isRepeated()
        }
    }

    /// Returns whether the copy was begun again while it ran: it may have ended for some objects already.
    private func isRepeated() -> Bool {
        state.withLock { state in
            let isRepeated = state.isRepeated && !state.isStopped
            (state.isRunning, state.isRepeated) = (isRepeated, false)
            if isRepeated { (state.failedIDs, state.progress.failures) = ([], []) }
            return isRepeated
        }
    }

    private var goesOn: Bool { state.withLock { !$0.isStopped } }

    private func set(_ phase: Phase) { state.withLock { $0.progress.phase = phase } }

    // MARK: Passes

    private func run() {
        while goesOn {
            do {
                try pass()
                let left = try count()
                if left.objects <= state.withLock({ $0.failedIDs.count }) {
                    guard left.uploads > 0 else { return try end(left.objects) }
                    set(.waitingForUploads)
                    _ = wakeUp.wait(timeout: .now() + Self.pause)
                }
                if goesOn { set(.running) }
            } catch {
                guard goesOn else { return }
                set(.interrupted("\(error)"))
                _ = wakeUp.wait(timeout: .now() + Self.pause)
            }
        }
    }

    private func end(_ remaining: Int) throws {
        guard remaining == 0 else { return set(.failed) }
        let (now, target, isInBucket) = (clock.now(), target, engines.target == .s3)
        try database.writeBlocking { connection in
            let records = StoreRecords(connection)
            try records.endEngineCopy(target: target, at: now)
            if isInBucket { try records.setDirectoryHoldsBytes(false) }
        }
        set(.complete)
    }

    private func count() throws -> (objects: Int, uploads: Int) {
        let left = try database.readBlocking { [sourceIsBucket] in
            try StoreRecords($0).countToCopy(inBucket: sourceIsBucket)
        }
        state.withLock { state in
            state.progress.remainingObjects = left.objects
            state.progress.remainingBytes = left.bytes
            state.progress.remainingUploads = left.uploads
        }
        return (left.objects, left.uploads)
    }

    /// Copies all objects that are in the source, several at a time.
    ///
    /// - Throws: the first failure that is not an object's.
    func pass() throws {
        _ = try count()
        let cursor = Cursor { [database, sourceIsBucket] last in
            try database.readBlocking {
                try StoreRecords($0).objectsToCopy(inBucket: sourceIsBucket, after: last, limit: Self.page)
            }
        }
        let group = DispatchGroup()
        let failure = Lock<(any Error)?>(nil)
        for _ in 0..<Self.threads {
            group.enter()
            copiers.post { [self] in
                defer { group.leave() }
                do {
                    while goesOn, failure.withLock({ $0 == nil }), let object = try cursor.next() { try handle(object) }
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
            }
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Copies an object, and notes its failure.
    ///
    /// - Throws: failures of the engines.
    private func handle(_ object: CopiedObject) throws {
        guard state.withLock({ !$0.failedIDs.contains(object.file.fileID) }) else { return }
        do {
            if sourceIsBucket { try copyToDirectory(object) } else { try copyToBucket(object) }
        } catch StorageFailure.missing {
            try note("its bytes are missing", of: object)
        } catch StorageFailure.unreadable {
            try note("its bytes do not match its checksum, or cannot be read", of: object)
        }
    }

    private func note(_ reason: String, of object: CopiedObject) throws {
        // Deleted meanwhile, or replaced.
        let fileID = object.file.fileID
        guard try isToBeCopied(fileID) else { return }
        state.withLock { state in
            state.failedIDs.insert(fileID)
            if state.progress.failures.count < Self.mostFailures {
                state.progress.failures.append(Failure(place: object.place, reason: reason))
            }
        }
    }

    private func isToBeCopied(_ fileID: String) throws -> Bool {
        try database.readBlocking { [sourceIsBucket] in
            try StoreRecords($0).isToBeCopied(fileID, inBucket: sourceIsBucket)
        }
    }

    private func copied(_ object: CopiedObject) {
        state.withLock { state in
            state.progress.copiedObjects += 1
            state.progress.copiedBytes += object.file.size
            state.progress.remainingObjects -= 1
            state.progress.remainingBytes -= object.file.size
        }
    }

    // MARK: Objects

    private func copyToBucket(_ object: CopiedObject) throws {
        let (directory, bucket, file) = (engines.directory, engines.bucket, object.file)
        let layout = try bucket.makeLayout(of: file, at: object.place)
        try layout.store(directory.openToExamine(file.fileID), isDamaged: object.isDamaged) { goesOn }
        try facts.alone(with: file.fileID) {
            if let facts = directory.facts(of: file.fileID) { try bucket.writeFacts(facts, of: file.fileID, layout) }
            let isRecorded = try database.writeBlocking { connection in
                guard try StoreRecords(connection).isToBeCopied(file.fileID, inBucket: false) else { return false }
                try bucket.record(layout, of: file.fileID, in: connection)
                return true
            }
            guard isRecorded else { return }
            copied(object)
            // What stays is removed by the comparison at the next start after an unclean shutdown.
            try? directory.remove(file.fileID)
        }
    }

    private func copyToDirectory(_ object: CopiedObject) throws {
        let (directory, bucket, file) = (engines.directory, engines.bucket, object.file)
        let new = try directory.makeFile(as: file.fileID)
        try write(bucket.openToExamine(file.fileID), of: object, to: new.sink)
        try facts.alone(with: file.fileID) {
            if let facts = bucket.facts(of: file.fileID) { try directory.writeFacts(facts, of: file.fileID) }
            let isRecorded = try new.commit {
                try database.writeBlocking { connection in
                    guard try StoreRecords(connection).isToBeCopied(file.fileID, inBucket: true) else { return false }
                    try bucket.release(file.fileID, in: connection)
                    return true
                }
            }
            // Without a row of the directory, it is another process's or nobody's.
            guard isRecorded else { return try directory.remove(file.fileID) }
            directory.seal(file.fileID)
            copied(object)
            try? bucket.removeFacts(of: file.fileID)
        }
    }

    /// Writes all bytes, durably.
    private func write(_ bytes: any StoredBytes, of object: CopiedObject, to sink: any BodySink) throws {
        guard try bytes.size() == object.file.size else { throw StorageFailure.missing }
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: AlignedBlock.size, alignment: AlignedBlock.alignment)
        defer { block.deallocate() }
        var (position, crc64) = (Int64(0), CRC64())
        while position < object.file.size {
            let wanted = Int(min(Int64(block.count), object.file.size - position))
            var filled = 0
            while filled < wanted {
                guard goesOn else { throw Stopped() }
                let count = try bytes.readPassing(
                    into: UnsafeMutableRawBufferPointer(rebasing: block[filled..<wanted]),
                    at: position + Int64(filled))
                guard count > 0 else { throw StorageFailure.missing }
                filled += count
            }
            let piece = UnsafeRawBufferPointer(rebasing: block[..<filled])
            crc64.update(piece)
            try sink.append(piece)
            position += Int64(filled)
        }
        guard object.isDamaged || crc64.value == object.file.crc64 else { throw StorageFailure.unreadable(errno: EIO) }
        try sink.finish(md5: [])
    }
}

/// The objects to be copied, for several threads.
private final class Cursor: Sendable {
    private struct State {
        var objects: ArraySlice<CopiedObject> = []
        var last = ""
    }

    private let state = Lock(State())
    private let read: @Sendable (_ after: String) throws -> [CopiedObject]

    init(_ read: @escaping @Sendable (_ after: String) throws -> [CopiedObject]) {
        self.read = read
    }

    func next() throws -> CopiedObject? {
        try state.withLock { state in
            if state.objects.isEmpty { state.objects = try read(state.last)[...] }
            guard let object = state.objects.popFirst() else { return nil }
            state.last = object.file.fileID
            return object
        }
    }
}
