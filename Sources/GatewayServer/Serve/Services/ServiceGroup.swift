import Basics
import Synchronization

/// Services with one lifecycle: all of them work, or none does.
///
/// They start in order. If one cannot start, those before it are stopped, the newest first, and the group has not started. A
/// service that ends because of an error ends the group.
final class ServiceGroup: Service {
    enum StopOrder {
        /// One after the other, the newest first.
        case reverse
        /// All at once, if each may take long and none needs another.
        case together
    }

    let name: String
    let services: [any Service]
    private let stopOrder: StopOrder
    /// The number of working services, from the first on.
    private let working = Lock(0)
    private let failures: AsyncStream<ServiceFailure>
    private let failure: AsyncStream<ServiceFailure>.Continuation

    init(_ name: String, _ services: [any Service], stopOrder: StopOrder = .reverse) {
        self.name = name
        self.services = services
        self.stopOrder = stopOrder
        (failures, failure) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func start() async throws {
        try await start { _ in }
    }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) async throws {
        do {
            for service in services {
                try await service.start { [name = service.name, failure] error in
                    let found = error as? ServiceFailure ?? ServiceFailure(service: name, error: error)
                    failure.yield(found)
                    ended(found)
                }
                working.withLock { $0 += 1 }
            }
        } catch {
            // Services that started one by one are stopped one by one, whatever the order of a regular stop.
            for service in takeWorking().reversed() { await service.stop() }
            throw error
        }
    }

    /// Runs `body` while the services work, and then stops them.
    ///
    /// - Throws: ``ServiceFailure`` if a service ended because of an error; `body` is cancelled then.
    func run(_ body: @escaping @Sendable () async -> Void) async throws(ServiceFailure) {
        let failure = await withTaskGroup(of: ServiceFailure?.self) { group in
            group.addTask {
                await body()
                return nil
            }
            group.addTask { [failures] in
                for await failure in failures { return failure }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        await stop()
        if let failure { throw failure }
    }

    func stop() async {
        let services = takeWorking()
        switch stopOrder {
        case .reverse:
            for service in services.reversed() { await service.stop() }
        case .together:
            await withTaskGroup(of: Void.self) { group in
                for service in services { group.addTask { await service.stop() } }
            }
        }
    }

    private func takeWorking() -> ArraySlice<any Service> {
        services.prefix(
            working.withLock { working in
                defer { working = 0 }
                return working
            })
    }
}

/// The error because of which a service ended.
struct ServiceFailure: Error, CustomStringConvertible {
    let service: String
    let error: any Error

    var description: String { "the service '\(service)' ended: \(error)" }
}
