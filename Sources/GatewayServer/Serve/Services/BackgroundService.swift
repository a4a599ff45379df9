import Basics
import Capability
import Synchronization

/// A capability's work in the background as a service.
final class BackgroundService: Service {
    let name: String
    private let work: BackgroundWork
    private let task = Lock<Task<Void, Never>?>(nil)

    init(_ work: BackgroundWork) {
        name = work.name
        self.work = work
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {
        let started = Task { [work] in
            do {
                try await work.run()
            } catch {
                if !Task.isCancelled { ended(error) }
            }
        }
        task.withLock { $0 = started }
    }

    func stop() async {
        let started = task.withLock { $0.take() }
        if let interrupt = work.interrupt { interrupt() } else { started?.cancel() }
        await started?.value
    }
}

/// The background work of all capabilities, and the housekeeping. They are known once the modules are open.
final class BackgroundWorkers: Service {
    let name = "background work"
    private let modules: ValueService<GatewayModules>
    private let group = Lock<ServiceGroup?>(nil)

    init(_ modules: ValueService<GatewayModules>) {
        self.modules = modules
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws {
        let modules = modules.value
        let housekeeping = BackgroundWork("housekeeping") { await modules.housekeeping.run() }
        let work = modules.capabilities.flatMap(\.background) + [housekeeping]
        let started = ServiceGroup(name, work.map(BackgroundService.init), stopOrder: .together)
        group.withLock { $0 = started }
        try await started.start(ended)
    }

    func stop() async {
        await group.withLock { $0.take() }?.stop()
    }
}
