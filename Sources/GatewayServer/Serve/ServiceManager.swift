import Basics
import Dispatch
import Foundation

/// The service manager that started this process and wants to hear how it is: sd_notify(3), in the few lines that it takes
/// without libsystemd. Each message is a datagram to the socket that `NOTIFY_SOCKET` names.
struct ServiceManager: Sendable {
    /// Within which it wants a sign of life; `nil` = it does not.
    let watchdogInterval: Duration?
    /// The path in the form of `sun_path`: an abstract name begins with a zero byte.
    private let path: [UInt8]
    private let log: Logger

    /// `nil` where no service manager listens.
    ///
    /// - Parameter variables: the environment; `WATCHDOG_PID`, where it is set, says which process is meant.
    init?(_ variables: [String: String], processID: Int32 = getpid(), log: Logger = .discarding) {
        self.log = log
        guard let name = variables["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        path = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        guard (2...MemoryLayout.size(ofValue: sockaddr_un().sun_path)).contains(path.count) else { return nil }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == "\(processID)" } ?? true
        let microseconds = variables["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Runs `body`, which may take longer than the manager waits for a start (`TimeoutStartSec`): the log of a
    /// database is made durable after an unclean end, and a migration rewrites its tables. Asks for 90 more seconds now and
    /// again until `body` returns.
    ///
    /// - Parameter interval: time between two requests.
    func starting<T>(every interval: DispatchTimeInterval = .seconds(30), _ body: () async throws -> T) async rethrows
        -> T
    {
        // Not a task: `body` may hold every thread that tasks have.
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "service-manager"))
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { tell("EXTEND_TIMEOUT_USEC=90000000\nSTATUS=starting") }
        timer.resume()
        defer { timer.cancel() }
        return try await body()
    }

    /// Every listener accepts, also: what was to be read again is.
    func ready() { tell("READY=1\nSTATUS=serving") }

    /// What can be read again is being read.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        tell("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)")
    }

    /// Nothing new is taken; what is under way ends.
    func stopping() { tell("STOPPING=1\nSTATUS=finishing the calls in progress") }

    /// Gives a sign of life, twice in each interval, as long as `answer` returns and says that things can go on; until the
    /// task is cancelled.
    func watch(_ answer: () async -> Bool) async {
        guard let watchdogInterval else { return }
        while !Task.isCancelled {
            let goesOn = await answer()
            if Task.isCancelled { return }
            guard goesOn else { return tell("STATUS=waiting for a restart") }
            tell("WATCHDOG=1")
            try? await Task.sleep(for: watchdogInterval / 2)
        }
    }

    private func tell(_ message: String) {
        let problem = send(Array(message.utf8))
        if problem != 0 {
            log.write(
                "the service manager could not be notified",
                ["message": message, "error": String(cString: strerror(problem))])
        }
    }

    /// - Returns: 0, or the `errno` of what went wrong.
    private func send(_ message: [UInt8]) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // No byte behind the name: in an abstract one it would count.
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0) + socklen_t(path.count)
        let sent = withUnsafeBytes(of: &address) { bytes in
            sendto(
                descriptor, message, message.count, Int32(MSG_NOSIGNAL),
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        return sent == message.count ? 0 : errno
    }
}
