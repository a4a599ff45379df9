import Basics
import Database
import MCAP
import ObjectStore
import Synchronization

/// Reads the times and the topics of new recordings in the background, one recording after the other, so that lists can be searched
/// by them. Organizations take turns. What has to be read is in the database: a restart continues.
final class RecordingIndex: Sendable {
    /// The pause after a failure.
    private static let retryDelay = Duration.seconds(5)

    private let database: Database
    private let store: ObjectStore
    private let log: Logger
    private let signal: Signal
    private let worker = Worker.serial("recordings")
    /// The organization whose recording was read last.
    private let lastOrganization = Lock<Int64>(0)

    /// - Parameter signal: notified after a recording was added.
    init(database: Database, store: ObjectStore, signal: Signal, log: Logger) {
        self.database = database
        self.store = store
        self.signal = signal
        self.log = log
    }

    /// Works until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let notified = signal.count
            do {
                if try await !readNext() { await database.wait(for: signal, after: notified) }
            } catch {
                if error is CancellationError { return }
                log.write("cannot record the topics of recordings", ["error": "\(error)"], level: .error)
                try? await Task.sleep(for: Self.retryDelay)
            }
        }
    }

    /// Reads one recording; returns `false` when all are read.
    ///
    /// - Throws: also `CancellationError`; the recording is read again then.
    func readNext() async throws -> Bool {
        let last = lastOrganization.withLock { $0 }
        let next = try await database.read { try RecordingRecords($0).next(afterOrganization: last) }
        guard let (position, object) = next else { return false }
        lastOrganization.withLock { $0 = object.owner.organizationID }
        let summary = try await summary(of: object)
        try await database.write { try RecordingRecords($0).finish(position: position, summary) }
        return true
    }

    private func summary(of object: CatalogObject) async throws(CancellationError) -> MCAPSummary? {
        let isCancelled = Lock(false)
        let result = await withTaskCancellationHandler {
            await worker.run { [store] in
                Result { () throws(MCAPError) in
                    try MCAPSummary(StoredRecording(object, store) { isCancelled.withLock { $0 } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        // A recording that cannot be read is no failure of the gateway: the object is listed without topics and times.
        switch result {
        case .success(let summary):
            if let shortfall = summary.shortfall {
                log.write(
                    "topics or times of a recording may be missing",
                    ["file_id": object.fileID, "reason": "\(shortfall)"], level: .debug)
            }
            return summary
        case .failure(.interrupted):
            throw CancellationError()
        case .failure(let error):
            log.write("a recording cannot be read", ["file_id": object.fileID, "reason": "\(error)"], level: .debug)
            return nil
        }
    }
}

/// The bytes of a recording in the store. Used by one thread.
private struct StoredRecording: MCAPSource {
    private let bytes: any StoredBytes
    private let isCancelled: () -> Bool
    let size: Int64

    init(_ object: CatalogObject, _ store: ObjectStore, isCancelled: @escaping () -> Bool) throws(MCAPError) {
        self.isCancelled = isCancelled
        do {
            bytes = try store.bytes(of: object.fileID)
        } catch {
            throw .unreadable
        }
        size = object.content.size
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError) {
        if isCancelled() { throw .interrupted }
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            guard let count = try? bytes.read(into: rest, at: offset + Int64(done)), count > 0 else {
                throw .unreadable
            }
            done += count
        }
    }
}
