import Accounts
import Configuration
import RPC
import Wire

/// The calls of each listener.
extension GatewayModules {
    /// Returns the router with the calls of a listener.
    func router(_ listener: ListenerName) -> Router {
        var router = Router()
        register(listener, in: &router)
        return router
    }

    /// Returns the router of the listener for apps, which has none of the gateway's own calls.
    func appRouter(_ routes: [HTTPRoute]) -> Router {
        var router = router(.apps)
        router.add(routes: routes)
        return router
    }

    private func register(_ listener: ListenerName, in router: inout Router) {
        switch listener {
        case .auth:
            accounts.register(in: &router)
            identity.register(in: &router)
        case .gateway:
            uploads.register(in: &router)
            catalog.register(in: &router)
            copies.register(in: &router)
        case .admin:
            accounts.registerManagement(devices: deviceInit.directory, in: &router)
            deviceInit.registerManagement(in: &router)
            catalog.registerManagement(in: &router)
            uploads.registerManagement(in: &router)
            backup.register(in: &router)
            restore.register(in: &router)
            ClockService(keeper: clock).register(in: &router)
            system.register(in: &router)
            events.registerManagement(in: &router)
        case .internalStorage:
            internalStorage.register(in: &router)
        case .deviceInit:
            deviceInit.register(in: &router)
        case .web:
            // The services that people use, not those of devices.
            register(.auth, in: &router)
            register(.admin, in: &router)
            catalog.register(in: &router)
            copies.register(in: &router)
        case .apps:
            apps.register(in: &router)
        case .objectStore, .ops:
            break
        }
    }
}
