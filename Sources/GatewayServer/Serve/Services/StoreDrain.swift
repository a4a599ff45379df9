import Basics
import StoreServer

/// Lets requests of the object store in progress finish. Its listener is opened with the modules, which need its address.
struct StoreDrain: Service {
    let name = "object-store listener"
    let modules: ValueService<GatewayModules>
    let limit: Duration

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {}

    func stop() async {
        let (server, limit) = (modules.value.core.storeServer, limit)
        await Worker.thread("listener-end").run { server.stop(drainingFor: limit) }
    }
}
