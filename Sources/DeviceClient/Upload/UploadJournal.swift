import Basics
import Crypto
import FoundationEssentials
import Glibc
import HTTPClient

/// The file with an upload's events: one line of JSON each, durable before the next step is taken.
///
/// A partial line after the last line feed, left by a crash, is cut off. The file is locked while it is open.
final class UploadJournal {
    let path: String
    private let descriptor: Int32
    /// Whether a line may have been written partially; nothing may be appended to it.
    private var isBroken = false

    /// The events of earlier runs, in order.
    let events: [UploadEvent]

    /// Returns the path of the journal for the upload of `source` (absolute).
    static func path(of source: String, in folder: DeviceFolder) -> String {
        "\(folder.uploadsPath)/\(Hex.lower(Digest.sha256(Array(source.utf8)).prefix(16))).jsonl"
    }

    /// Returns the file to which the journal at `path` belongs, without locking it; `nil` if no upload has begun.
    static func source(at path: String) throws -> SourceIdentity? {
        let first = try FileReader(path).contents(limit: 1 << 20).split(
            separator: 0x0A, omittingEmptySubsequences: false)
        guard first.count > 1,
            case .begun(let source, _, _, _) = try? JSONDecoder().decode(UploadEvent.self, from: Data(first[0]))
        else { return nil }
        return source
    }

    /// Whether the store has all bytes of the upload whose journal is at `path`, without locking it.
    static func isStored(at path: String) -> Bool {
        guard let bytes = try? FileReader(path).contents(limit: 4 << 20),
            let last = bytes.split(separator: 0x0A).last,
            case .stored = try? JSONDecoder().decode(UploadEvent.self, from: Data(last))
        else { return false }
        return true
    }

    /// Opens the journal, and creates it if it is missing.
    ///
    /// - Throws: `DeviceFolder.Failure`, also if another process has locked it.
    init(_ path: String) throws(DeviceFolder.Failure) {
        self.path = path
        descriptor = try Self.locked(path)
        do throws(DeviceFolder.Failure) {
            events = try Self.read(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The file at `path`, opened and locked. One that another process removed before it was locked holds nothing that lasts.
    private static func locked(_ path: String) throws(DeviceFolder.Failure) -> Int32 {
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .last("open", path) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                let failure =
                    errno == EWOULDBLOCK
                    ? DeviceFolder.Failure("another process is uploading this file (\(path))", isOfAnotherProcess: true)
                    : .last("lock", path)
                close(file)
                throw failure
            }
            if DeliveredFiles.isAt(path, file) { return file }
            close(file)
        }
    }

    deinit {
        close(descriptor)
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(DeviceFolder.Failure) -> [UploadEvent] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { break }
            bytes += block[..<count]
        }
        let whole = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        if whole < bytes.count {
            guard ftruncate(descriptor, off_t(whole)) == 0, fsync(descriptor) == 0 else { throw .last("repair", path) }
        }
        var events: [UploadEvent] = []
        for line in bytes[..<whole].split(separator: 0x0A) {
            guard let event = try? JSONDecoder().decode(UploadEvent.self, from: Data(line)) else {
                throw DeviceFolder.Failure("line \(events.count + 1) of \(path) cannot be read: delete the file")
            }
            events.append(event)
        }
        return events
    }

    /// Appends an event. It is durable on return.
    func append(_ event: UploadEvent) throws(DeviceFolder.Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(event) else {
            throw DeviceFolder.Failure("the event \(event) cannot be written")
        }
        // In one write, so that a crash is less likely to leave a partial line.
        let bytes = [UInt8](line) + [0x0A]
        guard !isBroken else { throw DeviceFolder.Failure("\(path) could not be written earlier") }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
            isBroken = true
            throw .last("write", path)
        }
        if case .begun = event { try synchronizeFolder() }
    }

    /// Removes the journal of a finished upload.
    func remove() throws(DeviceFolder.Failure) {
        guard unlink(path) == 0 else { throw .last("remove", path) }
        try synchronizeFolder()
    }

    private func synchronizeFolder() throws(DeviceFolder.Failure) {
        do {
            try PrivateFile.synchronizeFolder(Path.folder(of: path))
        } catch {
            throw DeviceFolder.Failure("cannot write \(path): \(error.reason)")
        }
    }
}

extension DeviceFolder.Failure {
    /// Returns the failure of the latest system call, from `errno`.
    static func last(_ what: String, _ path: String) -> DeviceFolder.Failure {
        DeviceFolder.Failure("cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}

/// The state of one upload with its journal on the disk: each change is recorded before it takes effect.
actor UploadLedger {
    private(set) var state: UploadState
    /// Whether an earlier run began it.
    let isResumed: Bool
    private let journal: UploadJournal

    /// Opens the journal at `path`.
    ///
    /// - Parameter begin: returns the first event of a new upload if the journal is empty; `nil` = then there is no upload.
    static func open(_ path: String, begin: () throws -> UploadEvent?) throws -> UploadLedger? {
        let journal = try UploadJournal(path)
        let isResumed = !journal.events.isEmpty
        do {
            guard let first = try journal.events.first ?? begin() else {
                try journal.remove()
                return nil
            }
            if !isResumed { try journal.append(first) }
            var state = try UploadState(first)
            for event in journal.events.dropFirst() { try state.apply(event) }
            return UploadLedger(journal, state, isResumed: isResumed)
        } catch  where !isResumed {
            try journal.remove()
            throw error
        }
    }

    private init(_ journal: sending UploadJournal, _ state: UploadState, isResumed: Bool) {
        self.journal = journal
        self.state = state
        self.isResumed = isResumed
    }

    /// Makes the event durable, then changes the state.
    func record(_ event: UploadEvent) throws {
        var next = state
        try next.apply(event)
        try journal.append(event)
        state = next
    }

    func remove() throws { try journal.remove() }
}
