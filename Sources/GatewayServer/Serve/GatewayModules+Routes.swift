import Capability
import Configuration
import RPC
import Wire

/// The calls of each listener.
extension GatewayModules {
    /// Returns the router with the calls of a listener.
    func router(_ listener: ListenerName) -> Router {
        var router = Router()
        for capability in capabilities { capability.register(for: listener, in: &router) }
        return router
    }

    /// Returns the router of the listener for apps, which has none of the gateway's own calls.
    func appRouter(_ routes: [HTTPRoute]) -> Router {
        var router = router(.apps)
        router.add(routes: routes)
        return router
    }
}
