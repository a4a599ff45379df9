import Basics

/// Work in a task of its own, from the start of the service to its stop.
final class BackgroundService: Service {
    let name: String
    private let work: @Sendable () async throws -> Void
    private let interrupt: (@Sendable () -> Void)?
    private let task = Lock<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - interrupt: makes `work` return; `nil` = its task is cancelled instead.
    ///   - work: an error that it throws before the stop ends the service.
    init(
        _ name: String, interrupt: (@Sendable () -> Void)? = nil, work: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.interrupt = interrupt
        self.work = work
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {
        let started = Task { [work] in
            do {
                try await work()
            } catch {
                if !Task.isCancelled { ended(error) }
            }
        }
        task.withLock { $0 = started }
    }

    func stop() async {
        let started = task.withLock { $0.take() }
        if let interrupt { interrupt() } else { started?.cancel() }
        await started?.value
    }
}
