package import Basics
package import DeviceClient
import Glibc
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
        case removed
        case failed(String)
        /// The gateway never accepts the file as it is.
        case refused(String)
        case stopped
    }

    /// The interval for writing the status during transfers.
    private static let statusInterval = Duration.seconds(5)
    /// The interval for checking the free space and the time of day, if the configuration has rules for them.
    private static let checkInterval = Duration.seconds(30)
    static let longestFailures = 10
    /// The directories are read this number of times before an upload whose file is gone is given up: a disk may be mounted late.
    static let rescansBeforeGivingUp = 3

    let configuration: AgentConfiguration
    let deviceRoot: DirectoryIdentity?
    let folder: AgentFolder
    let delivered: DeliveredFiles
    let clock: any WallClock
    let log: @Sendable (String) -> Void

    var pending = FileQueue()
    var uploads: RunningUploads
    var sideTasks = SideTasks()
    var status = ReportedStatus()
    var schedule = AgentSchedule()
    private(set) var watch: DirectoryNotifications?

    /// - Parameters:
    ///   - options: the uploader's; the agent itself sets its rate, its parts and its record.
    ///   - log: receives a line for each file, and for errors.
    package init(
        _ configuration: AgentConfiguration, in deviceFolder: DeviceFolder, options: Uploader.Options,
        clock: any WallClock, log: @escaping @Sendable (String) -> Void
    ) throws {
        self.configuration = configuration
        deviceRoot = DirectoryIdentity(deviceFolder.path)
        folder = AgentFolder(deviceFolder: deviceFolder.path)
        delivered = try DeliveredFiles(in: deviceFolder)
        var options = options
        options.parallel = configuration.parts
        options.delivered = delivered
        let rates = configuration.rates
        options.sendLimit = RateLimit { rates.rate(atMinute: RatePlan.currentMinute()) }
        uploads = RunningUploads(
            uploader: try Uploader(deviceFolder, options: options, clock: clock) { notice in
                switch notice {
                case .waiting(let what, let reason, let delay): log(AgentFailure.retry(what, reason, delay))
                case .addressChanged(let message), .keyChanged(let message): log(message)
                default: break
                }
            })
        self.clock = clock
        self.log = log
        status.values.startedAt = clock.now().seconds
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
        for upload in uploads.tasks.values { upload.cancel() }
        // Some have ended meanwhile.
        for (path, upload) in uploads.tasks { finish(path, await upload.value) }
        watch?.cancel()
        for task in sideTasks.all {
            task.cancel()
            await task.value
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
            throw AgentFailure("another agent is running with the device's folder \(folder.devicePath)")
        }
        return lock
    }

    private func startWatching(_ waker: AsyncStream<Wake>.Continuation) throws {
        do throws(DirectoryWatch.Failure) {
            watch = try DirectoryNotifications { waker.yield(.notified) }
        } catch {
            throw AgentFailure("\(error)")
        }
        waker.yield(.timer)
    }

    private func handle(_ wake: Wake) {
        switch wake {
        case .timer: break
        case .notified:
            readNotifications()
            watch?.markRead()
        case .ended(let path, let ending): finish(path, ending)
        }
    }

    /// Everything that is due now.
    private func work(_ waker: AsyncStream<Wake>.Continuation) {
        let now = ContinuousClock.now
        if schedule.rescanAt <= now {
            schedule.rescanAt = now + configuration.rescan
            readDirectories()
            giveUpVanished()
        }
        lookAtSettling(now)
        if schedule.checkAt <= now {
            schedule.checkAt = now + Self.checkInterval
            freeSpace(waker)
        }
        compare(waker)
        begin(waker)
        if status.isStale || (!uploads.tasks.isEmpty && status.dueAt <= now) { writeStatus() }
        releaseCode()
    }

    /// Releases the memory of code when the agent has become idle.
    private func releaseCode() {
        let isIdle =
            pending.count == 0 && uploads.tasks.isEmpty && sideTasks.comparing == nil && sideTasks.freeing == nil
        if isIdle, !schedule.hasReleasedCode { ProgramCode.releasePages() }
        schedule.hasReleasedCode = isIdle
    }

    /// Schedules the next wake-up. An agent without work sleeps for minutes.
    private func schedule(_ waker: AsyncStream<Wake>.Continuation) -> Task<Void, Never> {
        let isFull = uploads.tasks.count >= configuration.files || isPaused
        var due = schedule.rescanAt
        if let next = pending.nextDue(isFull: isFull) { due = min(due, next) }
        if needsChecks { due = min(due, schedule.checkAt) }
        if !uploads.tasks.isEmpty { due = min(due, status.dueAt) }
        // A limit for files that are written continuously.
        due = max(due, .now + .milliseconds(200))
        return Task {
            if (try? await Task.sleep(until: due, clock: .continuous)) != nil { waker.yield(.timer) }
        }
    }

    var isPaused: Bool { configuration.rates.rate(atMinute: RatePlan.currentMinute()) == 0 }

    private var needsChecks: Bool {
        configuration.minimumFree > 0 || (!configuration.rates.isConstant && pending.count > 0)
    }

    // MARK: Status

    private func writeStatus() {
        status.isStale = false
        status.dueAt = .now + Self.statusInterval
        status.values.updatedAt = clock.now().seconds
        status.values.pendingFiles = pending.count
        status.values.pendingBytes = pending.bytes
        status.values.refusedFiles = pending.refused.count
        status.values.refusals = pending.refused.sorted { $0.key < $1.key }.prefix(Self.longestFailures).map {
            AgentStatus.Refusal(file: $0.key, message: $0.value.message)
        }
        status.values.waiting = pending.waiting(at: .now, clock.now(), isPaused: isPaused, limit: Self.longestFailures)
        status.values.uploading = uploads.progress.current
        status.values.failures = pending.files.filter { !$0.value.message.isEmpty }.sorted { $0.key < $1.key }
            .prefix(Self.longestFailures).map {
                AgentStatus.Failure(file: $0.key, message: $0.value.message, attempts: $0.value.failures)
            }
        folder.write(status.values)
        if let file = configuration.metricsFile {
            AgentFolder.replace(file, Array(status.values.metrics.utf8), mode: 0o644)
        }
    }
}
