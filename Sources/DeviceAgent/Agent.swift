package import Basics
package import DeviceClient
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
    private let deviceFolder: DeviceFolder
    let deviceRoot: DirectoryIdentity?
    let folder: AgentFolder
    let delivered: DeliveredFiles
    let uploader: Uploader
    let clock: any WallClock
    let log: @Sendable (String) -> Void

    var pending = FileQueue()
    var status = AgentStatus()
    /// Files of the record whose bytes are compared before they count as delivered, or are deleted, by path.
    var comparisons: [String: WatchedFile] = [:]
    var comparing: Task<Void, Never>?
    var freeing: Task<Void, Never>?
    let progress = UploadProgress()
    var uploads: [String: Task<Void, Never>] = [:]
    private(set) var watch: DirectoryWatch?
    private var notifications: (any DispatchSourceRead)?
    /// Signaled when the kernel's notifications have been read. Until then, nobody is told that there are some: while the agent is
    /// busy, they would be told again and again.
    private let notificationsRead = DispatchSemaphore(value: 0)
    var rescans = 0
    var givingUp: Task<Void, Never>?
    var rescanAt = ContinuousClock.now
    var checkAt = ContinuousClock.now
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
        options.sendLimit = RateLimit { rates.rate(atMinute: RatePlan.currentMinute()) }
        uploader = try Uploader(deviceFolder, options: options, clock: clock) { notice in
            switch notice {
            case .waiting(let what, let reason, let delay): log(AgentFailure.retry(what, reason, delay))
            case .addressChanged(let message), .keyChanged(let message): log(message)
            default: break
            }
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
        case .ended(let path, let ending): finish(path, ending)
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

    var isPaused: Bool { configuration.rates.rate(atMinute: RatePlan.currentMinute()) == 0 }

    private var needsChecks: Bool {
        configuration.minimumFree > 0 || (!configuration.rates.isConstant && pending.count > 0)
    }

    // MARK: Status

    private func writeStatus() {
        isStatusStale = false
        statusAt = .now + Self.statusInterval
        status.updatedAt = clock.now().seconds
        status.pendingFiles = pending.count
        status.pendingBytes = pending.bytes
        status.refusedFiles = pending.refused.count
        status.refusals = pending.refused.sorted { $0.key < $1.key }.prefix(Self.longestFailures).map {
            AgentStatus.Refusal(file: $0.key, message: $0.value.message)
        }
        status.waiting = pending.waiting(at: .now, clock.now(), isPaused: isPaused, limit: Self.longestFailures)
        status.uploading = progress.current
        status.failures = pending.files.filter { !$0.value.message.isEmpty }.sorted { $0.key < $1.key }
            .prefix(Self.longestFailures).map {
                AgentStatus.Failure(file: $0.key, message: $0.value.message, attempts: $0.value.failures)
            }
        folder.write(status)
        if let file = configuration.metricsFile { AgentFolder.replace(file, Array(status.metrics.utf8), mode: 0o644) }
    }
}

/// The memory of the program's code.
enum ProgramCode {
    /// Returns the resident pages of code to the kernel: most are those of the start, and of uploads. Code that runs again is read
    /// from the page cache.
    ///
    /// Only mappings that can be executed are released. They are never written to, unlike the other parts of a program's file,
    /// which the loader relocates.
    static func releasePages() {
        guard let maps = try? PrivateFile.read("/proc/self/maps") else { return }
        for line in maps.split(separator: 0x0A) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { continue }
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, ends[0] < ends[1] else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
        }
    }
}
