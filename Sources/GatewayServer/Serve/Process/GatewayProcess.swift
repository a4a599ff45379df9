package import AppSupport
import Basics
package import Configuration
import Dispatch
import FoundationEssentials
import Glibc
import Observability
import Synchronization

/// The serving process: runs the gateway until a signal ends it.
package enum GatewayProcess {
    /// The end of the process.
    package enum End: Sendable {
        case orderly
        /// Orderly, and the next start replaces the data.
        case restart
        /// It could not start, or a service ended because of an error.
        case failure
    }

    /// - Parameters:
    ///   - apps: all apps of the program.
    ///   - variables: the environment.
    package static func run(
        _ options: ServeOptions, apps: [any App.Type], variables: [String: String]
    ) async -> End {
        let signals = Signals()
        // A source that is released is cancelled, and the second signal would be missed.
        defer { withExtendedLifetime(signals) {} }
        raiseDescriptorLimit()
        do {
            let log = ProcessLog()
            log.start()
            let read = { @Sendable () throws in
                try Configuration(options, apps: apps, variables: variables, log: Logger(log))
            }
            let configuration = try read()
            log.configure(configuration.log)
            defer { log.flush() }
            let manager = ServiceManager(ProcessInfo.processInfo.environment, log: Logger(log))
            let gateway = try Gateway(configuration, dataDirectory: options.dataDirectory, log: log)
            let starting = Task { try await gateway.start() }
            signals.onTermination { starting.cancel() }
            let start = { try await starting.value }
            if let manager { try await manager.starting(start) } else { try await start() }
            signals.onTermination(nil)
            announce(gateway, options.dataDirectory, configuration)
            manager?.ready()
            ProgramCode.releasePages()
            try await gateway.serve {
                let reloading = Task { [reloads = signals.reloads] in
                    for await _ in reloads {
                        manager?.reloading()
                        gateway.reload(read)
                        manager?.ready()
                    }
                }
                let watchdog = Task { await manager?.watch { await gateway.probe() } }
                let restart = Task {
                    await gateway.restartRequest()
                    if !Task.isCancelled { signals.terminate() }
                }
                await signals.untilTermination()
                restart.cancel()
                signals.exitAtNext()
                manager?.stopping()
                reloading.cancel()
                watchdog.cancel()
            }
            return gateway.isRestartRequested ? .restart : .orderly
        } catch is CancellationError {
            // It was asked to end while it waited for its database.
            return .orderly
        } catch {
            try? OpenFile.write("data-gateway: \(error)\n", to: STDERR_FILENO)
            return .failure
        }
    }

    /// Raises the limit of descriptors. One address may have a thousand connections at each listener, and a process starts with
    /// 1024 descriptors: clients must not use up those for the store's files.
    private static func raiseDescriptorLimit() {
        let descriptors = Int32(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(descriptors, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(descriptors, &limit)
    }

    /// Writes the line to standard output for which scripts wait: every listener accepts connections. On a terminal, the line is
    /// a text for people that says where the console is.
    private static func announce(_ gateway: Gateway, _ dataDirectory: String, _ configuration: Configuration) {
        let listeners = gateway.listeners
        if isatty(STDOUT_FILENO) == 1 {
            let text = Greeting(
                listeners: listeners, dataDirectory: dataDirectory,
                signIn: SignInCommand(gateway.addresses, configuration, gateway.certificates)
            ).text
            try? OpenFile.write(text, to: STDOUT_FILENO)
            return
        }
        let members = listeners.map { "\"\($0.name)\":\"\($0.address)\"" }.joined(separator: ",")
        // If nobody can read it, nobody waits for it.
        try? OpenFile.write("{\"event\":\"ready\",\"listeners\":{\(members)}}\n", to: STDOUT_FILENO)
    }
}

/// The signals SIGTERM, SIGINT and SIGHUP as asynchronous events. Once created, the signals no longer end the process by
/// themselves.
struct Signals: Sendable {
    /// Elements for SIGHUP, which requests a reload.
    let reloads: AsyncStream<Void>
    private let terminations: AsyncStream<Void>
    private let termination: AsyncStream<Void>.Continuation
    private let handler = Handler()
    /// Safe: set once, and only kept alive after that.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // only kept alive

    private final class Handler: Sendable {
        let body = Lock<(@Sendable () -> Void)?>(nil)
    }

    init() {
        // A write to a closed connection is an error of the connection, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let (terminations, termination) = AsyncStream<Void>.makeStream()
        let (reloads, reload) = AsyncStream<Void>.makeStream()
        self.terminations = terminations
        self.termination = termination
        self.reloads = reloads
        sources = [(SIGTERM, termination), (SIGINT, termination), (SIGHUP, reload)].map {
            [handler] number, continuation in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                continuation.yield()
                if number != SIGHUP { handler.body.withLock { $0 }?() }
            }
            source.resume()
            return source
        }
    }

    /// Calls `body` for each further signal to terminate, in addition to what waits for it; `nil` = no longer.
    func onTermination(_ body: (@Sendable () -> Void)?) {
        handler.body.withLock { $0 = body }
    }

    /// Returns when the first signal to terminate has arrived, or ``terminate()`` was called.
    func untilTermination() async {
        for await _ in terminations { return }
    }

    /// Has the effect of a signal to terminate.
    func terminate() { termination.yield() }

    /// Makes the next signal to terminate end the process at once, because whoever sends a second one does not want to wait.
    func exitAtNext() {
        Task { [terminations] in
            for await _ in terminations { _exit(1) }
        }
    }
}
