import AppProto
import Basics
import RPC

/// The service ShareCodeService, which converts messages and calls the rules.
struct ShareCodeService: ShareCodeServiceHandler {
    let clock: any WallClock
    let state: ServingState

    func getHealth(_ request: GetHealthRequest, context: CallContext) async throws -> ServiceHealth {
        ServiceHealth(
            status: state.isServing ? "ok" : "unavailable",
            timestamp: RFC3339.text(UnixTime(seconds: clock.now().seconds)), version: ProgramVersion.current)
    }
}
