import Basics
import DeviceClient

/// The files that an agent has found and not yet uploaded, and which of them is next. Pure: what the disk says and the time come
/// in.
struct FileQueue {
    /// A state of a file; while it is the same, nobody has written to it.
    struct Observation: Hashable {
        let size: Int64
        /// Nanoseconds since 1970.
        let modified: Int64
        let inode: UInt64
    }

    struct File {
        /// The number of the directory in the configuration.
        let directory: Int
        let relativePath: String
        var seen: Observation
        /// Not before this time, it is looked at or tried again.
        var due: ContinuousClock.Instant
        /// It stayed as it was for long enough.
        var isSettled = false
        var isUploading = false
        /// Attempts in a row that failed.
        var failures = 0
        /// Why the last one failed; empty = none did.
        var message = ""
    }

    /// Files that are known at once. Others are found when the directories are read again.
    static let most = 50_000
    private static let firstDelay = Duration.seconds(5)
    private static let longestDelay = Duration.seconds(300)

    private(set) var files: [String: File] = [:]
    /// Whether more files were found than can be known at once.
    private(set) var hasMore = false

    var count: Int { files.count }
    var bytes: Int64 { files.values.reduce(0) { $0 &+ $1.seen.size } }
    var uploadingCount: Int { files.values.count { $0.isUploading } }

    /// A file was found, or told to have changed: it is to stay as it is for `settling` from now on. One that is known and looks
    /// as before goes on as before.
    mutating func found(
        _ path: String, _ observation: Observation, in directory: Int, relativePath: String, settling: Duration,
        at now: ContinuousClock.Instant
    ) {
        if let known = files[path] {
            guard known.seen != observation, !known.isUploading else { return }
            files[path]?.restart(observation, at: now + settling)
            return
        }
        guard files.count < Self.most else {
            hasMore = true
            return
        }
        files[path] = File(directory: directory, relativePath: relativePath, seen: observation, due: now + settling)
    }

    /// Files that are to be looked at now, to see whether they have settled.
    func dueToSettle(at now: ContinuousClock.Instant) -> [String] {
        files.filter { !$0.value.isSettled && !$0.value.isUploading && $0.value.due <= now }.map(\.key)
    }

    /// - Parameters:
    ///   - observation: how the file is now; `nil` = it is gone.
    ///   - isBeingWritten: a process has it open for writing.
    mutating func looked(
        at path: String, _ observation: Observation?, isBeingWritten: Bool, settling: Duration,
        at now: ContinuousClock.Instant
    ) {
        guard let observation else {
            files[path] = nil
            return
        }
        guard let known = files[path] else { return }
        if isBeingWritten || known.seen != observation {
            files[path]?.restart(observation, at: now + settling)
        } else {
            files[path]?.isSettled = true
            files[path]?.due = now
        }
    }

    /// The file to upload next, which counts as being uploaded from now on: of those that may be tried, the one of the highest
    /// priority, and of these the one that was written first.
    mutating func next(at now: ContinuousClock.Instant, priority: (Int) -> Int64) -> String? {
        let ready = files.filter { $0.value.isSettled && !$0.value.isUploading && $0.value.due <= now }
        let best = ready.min { left, right in
            let ranks = (-priority(left.value.directory), -priority(right.value.directory))
            return (ranks.0, left.value.seen.modified, left.key) < (ranks.1, right.value.seen.modified, right.key)
        }
        guard let best else { return nil }
        files[best.key]?.isUploading = true
        return best.key
    }

    /// The file arrived, or is no matter any more.
    mutating func remove(_ path: String) { files[path] = nil }

    /// The file changed while it was uploaded: it has to settle again.
    mutating func changed(_ path: String, at due: ContinuousClock.Instant) {
        guard let seen = files[path]?.seen else { return }
        files[path]?.restart(seen, at: due)
    }

    /// The upload failed, and is tried again: after 5 s, then twice as long each time, up to 5 minutes.
    mutating func failed(_ path: String, _ message: String, at now: ContinuousClock.Instant) {
        guard let failures = files[path]?.failures else { return }
        files[path]?.failures = failures + 1
        files[path]?.message = message
        files[path]?.isUploading = false
        files[path]?.due = now + min(Self.longestDelay, Self.firstDelay * (1 << min(failures, 10)))
    }

    /// The upload was stopped, and goes on when it is allowed to.
    mutating func stopped(_ path: String) { files[path]?.isUploading = false }

    /// Everything may be tried at once, e.g. since the network is back.
    mutating func forgetMore() { hasMore = false }

    /// When something is to be done next.
    ///
    /// - Parameter isFull: no further upload may begin now.
    func nextDue(isFull: Bool) -> ContinuousClock.Instant? {
        files.values.filter { !$0.isUploading && !(isFull && $0.isSettled) }.map(\.due).min()
    }
}

extension FileQueue.File {
    fileprivate mutating func restart(_ observation: FileQueue.Observation, at due: ContinuousClock.Instant) {
        seen = observation
        self.due = due
        isSettled = false
        isUploading = false
    }
}
