import Basics
import DeviceClient
import Dispatch
import Foundation
import HTTPClient

/// Watches directories and uploads new files in them.
///
/// The agent has no persistent state of its own: its work follows from the existing files, the journals of unfinished uploads, and
/// the record of confirmed files. Waiting times use a monotonic clock.
package actor Agent {
    /// An event that wakes the agent.
    enum Wake: Sendable {
        case notified
        case timer
        case ended(String, Ending)
    }

    /// The result of an upload.
    enum Ending: Sendable {
        case arrived(SourceIdentity)
        case changed
        case gone
        case failed(String)
        case stopped
    }

    /// The interval for writing the status during transfers.
    private static let statusInterval = Duration.seconds(5)
    /// The interval for checking the free space and the time of day, if the configuration has rules for them.
    private static let checkInterval = Duration.seconds(30)
    private static let longestFailures = 10
    /// The directories are read this number of times before an upload whose file is gone is given up: a disk may be mounted late.
    static let rescansBeforeGivingUp = 3

    let configuration: AgentConfiguration
    private let deviceFolder: DeviceFolder
    let deviceRoot: DirectoryIdentity?
    private let folder: AgentFolder
    let delivered: DeliveredFiles
    let uploader: Uploader
    let clock: any WallClock
    let log: @Sendable (String) -> Void

    private var pending = FileQueue()
    var status = AgentStatus()
    /// Files of the record whose bytes are compared before they count as delivered, or are deleted, by path.
    var comparisons: [String: WatchedFile] = [:]
    var comparing: Task<Void, Never>?
    var freeing: Task<Void, Never>?
    private let progress = UploadProgress()
    var uploads: [String: Task<Void, Never>] = [:]
    private var watch: DirectoryWatch?
    private var notifications: (any DispatchSourceRead)?
    /// Signaled when the kernel's notifications have been read. Until then, nobody is told that there are some: while the agent is
    /// busy, they would be told again and again.
    private let notificationsRead = DispatchSemaphore(value: 0)
    var rescans = 0
    var givingUp: Task<Void, Never>?
    private var rescanAt = ContinuousClock.now
    private var checkAt = ContinuousClock.now
    private var statusAt = ContinuousClock.now
    var isStatusStale = true
    private var hasReleasedCode = false

    /// - Parameters:
    ///   - options: the uploader's; the agent itself sets its rate, its parts and its record.
    ///   - log: receives a line for each file, and for errors.
    package init(
        _ configuration: AgentConfiguration, in deviceFolder: DeviceFolder, options: Uploader.Options,
        clock: any WallClock, log: @escaping @Sendable (String) -> Void
    ) throws {
        self.configuration = configuration
        self.deviceFolder = deviceFolder
        deviceRoot = DirectoryIdentity(deviceFolder.path)
        folder = AgentFolder(deviceFolder: deviceFolder.path)
        delivered = try DeliveredFiles(in: deviceFolder)
        var options = options
        options.parallel = configuration.parts
        options.delivered = delivered
        let rates = configuration.rates
        options.sendLimit = SendLimit { rates.rate(atMinute: RatePlan.currentMinute()) }
        uploader = try Uploader(deviceFolder, options: options, clock: clock) { notice in
            if case .waiting(let what, let reason, _) = notice { log("\(what) failed and is tried again: \(reason)") }
        }
        self.clock = clock
        self.log = log
        status.startedAt = clock.now().seconds
    }

    /// Runs until the task is cancelled; then the uploads stop, and can be resumed.
    ///
    /// - Throws: `AgentFailure` if the agent cannot run, e.g. because another one uses the folder.
    package func run() async throws {
        let lock = try lockFolder()
        defer { close(lock) }
        folder.fillReserve()
        let (wakes, waker) = AsyncStream.makeStream(of: Wake.self)
        try startWatching(waker)
        await withTaskCancellationHandler {
            var timer: Task<Void, Never>?
            for await wake in wakes {
                handle(wake)
                guard !Task.isCancelled else { break }
                work(waker)
                timer?.cancel()
                timer = schedule(waker)
            }
            timer?.cancel()
        } onCancel: {
            waker.finish()
        }
        for upload in uploads.values { upload.cancel() }
        for upload in uploads.values { await upload.value }
        notifications?.cancel()
        notificationsRead.signal()
        for task in [comparing, freeing, givingUp] {
            task?.cancel()
            await task?.value
        }
        writeStatus()
    }

    // MARK: Waking

    private func lockFolder() throws -> Int32 {
        let lock: Int32?
        do throws(PrivateFile.Failure) {
            try folder.make()
            lock = try folder.lock()
        } catch {
            throw AgentFailure("cannot write \(folder.path): \(error.reason)")
        }
        guard let lock else {
            throw AgentFailure("another agent is running with the device's folder \(deviceFolder.path)")
        }
        return lock
    }

    private func startWatching(_ waker: AsyncStream<Wake>.Continuation) throws {
        let watch: DirectoryWatch
        do {
            watch = try DirectoryWatch()
        } catch {
            throw AgentFailure("\(error)")
        }
        self.watch = watch
        let source = DispatchSource.makeReadSource(
            fileDescriptor: watch.descriptor, queue: DispatchQueue(label: "notifications"))
        source.setEventHandler { [notificationsRead] in
            waker.yield(.notified)
            notificationsRead.wait()
        }
        source.resume()
        notifications = source
        waker.yield(.timer)
    }

    private func handle(_ wake: Wake) {
        switch wake {
        case .timer: break
        case .notified:
            readNotifications()
            notificationsRead.signal()
        case .ended(let path, let ending): settle(path, ending)
        }
    }

    /// Everything that is due now.
    private func work(_ waker: AsyncStream<Wake>.Continuation) {
        let now = ContinuousClock.now
        if rescanAt <= now {
            rescanAt = now + configuration.rescan
            readDirectories()
            giveUpVanished()
        }
        lookAtSettling(now)
        if checkAt <= now {
            checkAt = now + Self.checkInterval
            freeSpace(waker)
        }
        compare(waker)
        begin(waker)
        if isStatusStale || (!uploads.isEmpty && statusAt <= now) { writeStatus() }
        releaseCode()
    }

    /// Releases the memory of code when the agent has become idle.
    private func releaseCode() {
        let isIdle = pending.count == 0 && uploads.isEmpty && comparing == nil && freeing == nil
        if isIdle, !hasReleasedCode { ProgramCode.releasePages() }
        hasReleasedCode = isIdle
    }

    /// Schedules the next wake-up. An agent without work sleeps for minutes.
    private func schedule(_ waker: AsyncStream<Wake>.Continuation) -> Task<Void, Never> {
        let isFull = uploads.count >= configuration.files || isPaused
        var due = rescanAt
        if let next = pending.nextDue(isFull: isFull) { due = min(due, next) }
        if needsChecks { due = min(due, checkAt) }
        if !uploads.isEmpty { due = min(due, statusAt) }
        // A limit for files that are written continuously.
        due = max(due, .now + .milliseconds(200))
        return Task {
            if (try? await Task.sleep(until: due, clock: .continuous)) != nil { waker.yield(.timer) }
        }
    }

    private var isPaused: Bool { configuration.rates.rate(atMinute: RatePlan.currentMinute()) == 0 }

    private var needsChecks: Bool {
        configuration.minimumFree > 0 || (!configuration.rates.isConstant && pending.count > 0)
    }

    // MARK: Finding files

    private func readNotifications() {
        for change in watch?.changes() ?? [] {
            switch change {
            case .overflow: rescanAt = .now
            case .entry(let path, isDirectory: true):
                for (number, directory) in configuration.directories.enumerated()
                where directory.isRecursive && path.hasPrefix(directory.path + "/") {
                    read(path, of: number)
                }
            case .entry(let path, isDirectory: false):
                for (number, directory) in configuration.directories.enumerated() {
                    guard let relative = directory.relativePath(of: path) else { continue }
                    guard let status = Self.regularFile(path) else { continue }
                    found(FoundFile(path: path, relativePath: relative), status, in: number)
                    break
                }
            }
        }
    }

    private func readDirectories() {
        pending.forgetMore()
        rescans += 1
        let former = Set(status.directoryFailures)
        status.failedDirectories = 0
        status.directoryFailures = []
        for (number, directory) in configuration.directories.enumerated() { read(directory.path, of: number, former) }
    }

    /// - Parameter former: messages that were logged when the directories were read before.
    private func failed(_ message: String, _ former: Set<String>) {
        isStatusStale = true
        status.failedDirectories += 1
        guard status.directoryFailures.count < Self.longestFailures, !status.directoryFailures.contains(message) else {
            return
        }
        status.directoryFailures.append(message)
        if !former.contains(message) { log(message) }
    }

    /// Reads a directory of the configuration, or one below it, and watches it with everything below. One that cannot be
    /// watched is read all the same: its files are found each time that the directories are read.
    private func read(_ path: String, of number: Int, _ former: Set<String> = []) {
        let directory = configuration.directories[number]
        do {
            try FileTree(path, isRecursive: directory.isRecursive, except: deviceRoot).forEach(
                entered: { addWatch($0, former) }, failed: { failed("\($0)", former) }
            ) { file, status in
                guard let relative = directory.relativePath(of: file.path) else { return }
                found(FoundFile(path: file.path, relativePath: relative), status, in: number)
            }
        } catch {
            failed("\(error)", former)
        }
    }

    private func addWatch(_ directory: String, _ former: Set<String>) {
        do throws(DirectoryWatch.Failure) {
            try watch?.add(directory)
        } catch {
            failed("\(error)", former)
        }
    }

    private func found(_ file: FoundFile, _ status: stat, in number: Int) {
        let directory = configuration.directories[number]
        guard directory.filter.admits(file.relativePath), !configuration.isMetricsFile(file.path) else { return }
        let source = SourceIdentity(path: file.path, status)
        let candidate = WatchedFile(source: source, relativePath: file.relativePath, directory: number)
        switch delivered.match(source) {
        case .none: addPending(candidate)
        case .same where directory.afterUpload != .delete: break
        case .same, .similar:
            // Either a file that was confirmed and not deleted, because of a power loss or an error, or another file that only
            // looks like it. Files beyond the limit are found when the directories are read again.
            if comparisons.count < FileQueue.most { comparisons[source.path] = candidate }
        }
    }

    func addPending(_ file: WatchedFile) {
        pending.found(
            file.source.path, FileQueue.Observation(file.source), in: file.directory, relativePath: file.relativePath,
            settling: configuration.directories[file.directory].settling, at: .now)
        isStatusStale = true
    }

    private func lookAtSettling(_ now: ContinuousClock.Instant) {
        for path in pending.dueToSettle(at: now) { _ = look(at: path, now) }
    }

    /// - Returns: the file at `path`; `nil` where it has to settle first, or is gone.
    private func look(at path: String, _ now: ContinuousClock.Instant) -> SourceIdentity? {
        guard let number = pending.files[path]?.directory else { return nil }
        isStatusStale = true
        let status = Self.regularFile(path)
        pending.looked(
            at: path, status.map { FileQueue.Observation(SourceIdentity(path: path, $0)) },
            isBeingWritten: status != nil && SourceIdentity.isBeingWritten(path) == true,
            settling: configuration.directories[number].settling, at: now)
        guard let status, pending.files[path]?.isSettled == true else { return nil }
        return SourceIdentity(path: path, status)
    }

    /// The status of the file at `path`; `nil` where there is none, or something else, such as a link.
    static func regularFile(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }

    // MARK: uploading

    private func begin(_ waker: AsyncStream<Wake>.Continuation) {
        if isPaused != status.isPaused {
            status.isPaused = isPaused
            isStatusStale = true
            // Uploads in progress stop soon, and are resumed when sending is permitted again.
            if isPaused { for upload in uploads.values { upload.cancel() } }
        }
        guard !isPaused else { return }
        while uploads.count < configuration.files {
            let next = pending.next(at: .now) { configuration.directories[$0].priority }
            guard let path = next, let file = pending.files[path] else { return }
            // Long after the file settled, e.g. since nothing could be sent, it may be written to again.
            guard let source = look(at: path, .now) else { continue }
            let directory = configuration.directories[file.directory]
            let tags = directory.tags.tags(of: file.relativePath, size: file.seen.size, modified: file.seen.modified)
            progress.begin(path, size: file.seen.size)
            uploads[path] = Task { [uploader, progress, log] in
                waker.yield(.ended(path, await Self.upload(source, tags, uploader, progress, log)))
            }
        }
    }

    private static func upload(
        _ source: SourceIdentity, _ tags: [String: String], _ uploader: Uploader, _ progress: UploadProgress,
        _ log: @Sendable (String) -> Void
    ) async -> Ending {
        let path = source.path
        do {
            let outcome = try await uploader.upload(
                path, tags: tags, .resuming, expecting: source, notice: { progress.note($0, path) })
            log("uploaded \(path): \(outcome.source.size) bytes, file \(outcome.fileID)")
            return .arrived(outcome.source)
        } catch is CancellationError {
            return .stopped
        } catch is SourceChange {
            return .changed
        } catch let failure as FileReader.Failure where failure.isMissing {
            return .gone
        } catch {
            return Task.isCancelled ? .stopped : .failed(AgentFailure.text(error))
        }
    }

    private func settle(_ path: String, _ ending: Ending) {
        uploads[path] = nil
        isStatusStale = true
        let size = progress.end(path)
        guard let file = pending.files[path] else { return }
        let directory = configuration.directories[file.directory]
        switch ending {
        case .arrived(let source):
            pending.remove(path)
            status.uploadedFiles += 1
            status.uploadedBytes += size
            if directory.afterUpload == .delete { delete(source) }
            folder.fillReserve()
            checkAt = .now
            // A file that was written to after its last part was read is another file.
            if let now = Self.regularFile(path) {
                found(FoundFile(path: path, relativePath: file.relativePath), now, in: file.directory)
            }
        case .changed: pending.changed(path, at: .now + directory.settling)
        case .stopped: pending.stopped(path)
        case .gone:
            pending.remove(path)
        case .failed(let message):
            status.failedAttempts += 1
            pending.failed(path, message, at: .now)
            log("\(path): \(message)")
            folder.releaseReserve()
        }
        if pending.hasMore, pending.count < FileQueue.most / 2 { rescanAt = .now }
    }

    // MARK: Status

    private func writeStatus() {
        isStatusStale = false
        statusAt = .now + Self.statusInterval
        status.updatedAt = clock.now().seconds
        status.pendingFiles = pending.count
        status.pendingBytes = pending.bytes
        status.uploading = progress.current
        status.failures = pending.files.filter { !$0.value.message.isEmpty }.sorted { $0.key < $1.key }
            .prefix(Self.longestFailures).map {
                AgentStatus.Failure(file: $0.key, message: $0.value.message, attempts: $0.value.failures)
            }
        folder.write(status)
        if let file = configuration.metricsFile { AgentFolder.replace(file, Array(status.metrics.utf8), mode: 0o644) }
    }
}

extension AgentConfiguration.Directory {
    /// Returns the part of `path` below the directory; `nil` if the file is not in it.
    func relativePath(of path: String) -> String? {
        let prefix = self.path == "/" ? "/" : self.path + "/"
        guard path.hasPrefix(prefix) else { return nil }
        let relative = String(path.dropFirst(prefix.count))
        return isRecursive || !relative.contains("/") ? relative : nil
    }
}

extension FileQueue.Observation {
    fileprivate init(_ source: SourceIdentity) {
        self.init(size: source.size, modified: source.modified, inode: source.inode)
    }
}
