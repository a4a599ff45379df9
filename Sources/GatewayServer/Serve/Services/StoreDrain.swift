import Foundation

/// Lets requests of the object store that are under way end. Its listener is opened with the modules, which are told its
/// address.
struct StoreDrain: Service {
    let name = "object-store listener"
    let modules: ValueService<GatewayModules>
    /// The longest time that they may take.
    let limit: Duration

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {}

    func stop() async {
        let (server, limit) = (modules.value.storeServer, limit)
        await Thread.run { server.stop(drainingFor: limit) }
    }
}
