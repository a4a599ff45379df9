import Basics
import DeviceClient

/// The found files that are not uploaded yet, and the order of their uploads. A pure function of the passed observations and times.
struct FileQueue {
    /// A version of a file; if it is equal, the file was not written to.
    struct Observation: Hashable {
        let size: Int64
        /// The time of the last write, in nanoseconds since 1970.
        let modified: Int64
        let inode: UInt64
    }

    struct File {
        /// The number of the directory in the configuration.
        let directory: Int
        let relativePath: String
        var seen: Observation
        /// The earliest time of the next check or attempt.
        var due: ContinuousClock.Instant
        /// Whether the file was unchanged for the required time.
        var isStable = false
        var isUploading = false
        /// Whether a process had it open for writing when it was checked last.
        var isOpen = false
        /// The number of consecutive failed attempts.
        var failures = 0
        /// The reason of the latest failure; empty = none.
        var message = ""
    }

    /// A file that the gateway never accepts as it is.
    struct Refusal {
        let seen: Observation
        let message: String
    }

    /// The largest number of files in the queue, and of refused files. Others are found when the directories are read again.
    static let most = 50_000
    private static let firstDelay = Duration.seconds(5)
    private static let longestDelay = Duration.seconds(300)

    private(set) var files: [String: File] = [:]
    /// The refused files, which are not tried again until they change.
    private(set) var refused: [String: Refusal] = [:]
    /// Whether more files were found than the queue can hold.
    private(set) var hasMore = false

    var count: Int { files.count }
    var bytes: Int64 { files.values.reduce(0) { $0 &+ $1.seen.size } }
    var uploadingCount: Int { files.values.count { $0.isUploading } }

    /// Adds a found or changed file, which must then be unchanged for `settling`. A known file that is unchanged keeps its state.
    mutating func found(
        _ path: String, _ observation: Observation, in directory: Int, relativePath: String, settling: Duration,
        at now: ContinuousClock.Instant
    ) {
        guard refused[path]?.seen != observation else { return }
        refused[path] = nil
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

    /// Returns the files that must be checked now for changes.
    func dueForCheck(at now: ContinuousClock.Instant) -> [String] {
        files.filter { !$0.value.isStable && !$0.value.isUploading && $0.value.due <= now }.map(\.key)
    }

    /// - Parameters:
    ///   - observation: the current version; `nil` = the file does not exist.
    ///   - isBeingWritten: whether a process has it open for writing.
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
            files[path]?.isOpen = isBeingWritten
        } else {
            files[path]?.isStable = true
            files[path]?.due = now
        }
    }

    /// Returns the next file and marks it as in upload: of the ready files the one with the highest priority, and of these the one
    /// that was written first.
    mutating func next(at now: ContinuousClock.Instant, priority: (Int) -> Int64) -> String? {
        let ready = files.filter { $0.value.isStable && !$0.value.isUploading && $0.value.due <= now }
        let best = ready.min { left, right in
            let ranks = (-priority(left.value.directory), -priority(right.value.directory))
            return (ranks.0, left.value.seen.modified, left.key) < (ranks.1, right.value.seen.modified, right.key)
        }
        guard let best else { return nil }
        files[best.key]?.isUploading = true
        return best.key
    }

    /// Removes a file that was confirmed, or need not be uploaded any more.
    mutating func remove(_ path: String) {
        files[path] = nil
        refused[path] = nil
    }

    /// Takes a file out of the queue that is never accepted as it is.
    mutating func refuse(_ path: String, _ message: String) {
        guard let file = files.removeValue(forKey: path) else { return }
        // Beyond the limit, files are tried again when the directories are read again.
        if refused.count < Self.most { refused[path] = Refusal(seen: file.seen, message: message) }
    }

    /// Handles a file that changed during its upload: it must settle again.
    mutating func changed(_ path: String, at due: ContinuousClock.Instant) {
        guard let seen = files[path]?.seen else { return }
        files[path]?.restart(seen, at: due)
    }

    /// Schedules the next attempt after a failure: after 5 s, then twice as long each time, at most 5 minutes.
    mutating func failed(_ path: String, _ message: String, at now: ContinuousClock.Instant) {
        guard let failures = files[path]?.failures else { return }
        files[path]?.failures = failures + 1
        files[path]?.message = message
        files[path]?.isUploading = false
        files[path]?.due = now + min(Self.longestDelay, Self.firstDelay * (1 << min(failures, 10)))
    }

    /// Handles a stopped upload, which is resumed when it is permitted.
    mutating func stopped(_ path: String) { files[path]?.isUploading = false }

    /// Forgets that more files were found than the queue can hold.
    mutating func forgetMore() { hasMore = false }

    /// Returns the time of the next work.
    ///
    /// - Parameter isFull: whether no further upload may begin now.
    func nextDue(isFull: Bool) -> ContinuousClock.Instant? {
        files.values.filter { !$0.isUploading && !(isFull && $0.isStable) }.map(\.due).min()
    }
}

extension FileQueue.File {
    fileprivate mutating func restart(_ observation: FileQueue.Observation, at due: ContinuousClock.Instant) {
        seen = observation
        self.due = due
        isStable = false
        isUploading = false
        isOpen = false
    }
}

extension FileQueue {
    /// Returns why files are not in upload, the first of them by path.
    ///
    /// - Parameters:
    ///   - now: the present time on the clock of the queue.
    ///   - wallNow: the same time for people.
    ///   - isPaused: whether nothing is sent at this time of day.
    func waiting(
        at now: ContinuousClock.Instant, _ wallNow: UnixTime, isPaused: Bool, limit: Int
    ) -> [AgentStatus.Waiting] {
        files.filter { !$0.value.isUploading }.sorted { $0.key < $1.key }.prefix(limit).map { path, file in
            let reason = file.waitingReason(at: now, isPaused: isPaused)
            let isTimed = reason == .settling || reason == .retry
            return AgentStatus.Waiting(
                file: path, reason: reason,
                until: isTimed ? wallNow.seconds + max(0, (file.due - now).wholeSeconds) : nil,
                message: reason == .retry ? file.message : nil)
        }
    }
}

extension FileQueue.File {
    fileprivate func waitingReason(at now: ContinuousClock.Instant, isPaused: Bool) -> AgentStatus.Waiting.Reason {
        guard isStable else { return isOpen ? .open : .settling }
        if failures > 0, due > now { return .retry }
        return isPaused ? .paused : .turn
    }
}
