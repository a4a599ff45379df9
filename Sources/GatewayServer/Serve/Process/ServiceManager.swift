import Basics
import Dispatch
import Glibc

/// The service manager that started this process and monitors it: sd_notify(3), implemented without libsystemd. Each message is a
/// datagram to the socket in `NOTIFY_SOCKET`.
struct ServiceManager: Sendable {
    /// The interval in which it expects a sign of life; `nil` = none.
    let watchdogInterval: Duration?
    /// The path as in `sun_path`: an abstract name begins with a zero byte.
    private let path: [UInt8]
    private let log: Logger
    /// The limit for a message that a hung manager does not take.
    private let sendLimit: Duration

    /// Returns `nil` if there is no service manager.
    ///
    /// - Parameter variables: the environment; `WATCHDOG_PID`, if set, is the process that should send signs of life.
    init?(
        _ variables: [String: String], processID: Int32 = getpid(), log: Logger = .discarding,
        sendLimit: Duration = .seconds(5)
    ) {
        self.log = log
        self.sendLimit = sendLimit
        guard let name = variables["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        path = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        guard (2...MemoryLayout.size(ofValue: sockaddr_un().sun_path)).contains(path.count) else { return nil }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = variables["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Runs `body`, which may take longer than the manager waits for a start (`TimeoutStartSec`): after an unclean shutdown the
    /// database recovers its log, and a migration rewrites its tables. Requests 90 more seconds repeatedly until `body` returns.
    ///
    /// - Parameter interval: the time between two requests.
    func starting<T>(every interval: DispatchTimeInterval = .seconds(30), _ body: () async throws -> T) async rethrows
        -> T
    {
        // Not a task, because `body` may occupy every thread for tasks.
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "service-manager"))
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { notify("EXTEND_TIMEOUT_USEC=90000000\nSTATUS=starting") }
        timer.resume()
        defer { timer.cancel() }
        return try await body()
    }

    /// Reports that every listener accepts connections, or that a reload has finished.
    func ready() { notify("READY=1\nSTATUS=serving") }

    /// Reports that a reload has begun.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        notify("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)")
    }

    /// Reports the beginning of the shutdown.
    func stopping() { notify("STOPPING=1\nSTATUS=finishing the calls in progress") }

    /// Sends a sign of life twice in each interval, as long as `probe` returns true; until the task is cancelled.
    func watch(_ probe: () async -> Bool) async {
        guard let watchdogInterval else { return }
        while !Task.isCancelled {
            let isResponsive = await probe()
            if Task.isCancelled { return }
            guard isResponsive else { return notify("STATUS=waiting for a restart") }
            notify("WATCHDOG=1")
            try? await Task.sleep(for: watchdogInterval / 2)
        }
    }

    private func notify(_ message: String) {
        let problem = send(Array(message.utf8))
        if problem != 0 {
            log.write(
                "the service manager could not be notified",
                ["message": message, "error": String(cString: strerror(problem))])
        }
    }

    /// - Returns: 0, or the `errno` of the failure.
    private func send(_ message: [UInt8]) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let (seconds, attoseconds) = sendLimit.components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // The length ends with the name, because further bytes would belong to an abstract name.
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0) + socklen_t(path.count)
        let sent = withUnsafeBytes(of: &address) { bytes in
            sendto(
                descriptor, message, message.count, Int32(MSG_NOSIGNAL),
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        return sent == message.count ? 0 : errno
    }
}
