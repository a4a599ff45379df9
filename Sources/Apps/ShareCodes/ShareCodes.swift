import AppProto
import AppSupport
import Basics
import RPC

/// The app for share codes while the gateway serves.
struct ShareCodes: RunningApp {
    private let service: ShareCodeService

    init(_ environment: AppEnvironment) {
        service = ShareCodeService(clock: environment.modules.clock, state: environment.state)
    }

    func register(in router: inout Router) {
        service.register(in: &router)
    }
}
