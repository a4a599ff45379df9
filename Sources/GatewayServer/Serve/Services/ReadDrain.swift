import Database

/// Refuses the background reads that have not begun when the gateway stops: their calls would be waited for like those at work.
struct ReadDrain: Service {
    let name = "waiting reads"
    let modules: ValueService<GatewayModules>

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {}

    func stop() { modules.value.core.database.refuseWaitingReads() }
}
