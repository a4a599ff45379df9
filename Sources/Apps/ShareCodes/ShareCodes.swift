import AppProto
import AppSupport
import Basics
import Capability
import Crypto
import Database
import GatewayAPI
import RPC

/// The app for share codes while the gateway serves.
final class ShareCodes: Capability {
    /// The largest request in bytes: the longest data with every character escaped.
    private static let largestRequest = 128 * 1024

    let service: ShareCodeService
    let waits: InboxWaits
    private let sweep: ShareCodeSweep
    private let counters: ShareCodeMetrics
    private let stopWatch: Task<Void, Never>

    init(_ environment: ModuleEnvironment, state: ServingState, configuration: ShareCodesConfiguration) {
        let (database, clock, keyring) = (environment.database, environment.clock, environment.keyring)
        let limits = ShareCodeLimits(configuration, clock: clock)
        let contents = SealedContents(key: keyring.key(ofApp: ShareCodesApp.name, for: "contents"))
        let waits = InboxWaits(limit: configuration.waitingLists, ofAddress: configuration.waitingListsOfAddress)
        let origins = RowOrigins(key: keyring.key(ofApp: ShareCodesApp.name, for: "addresses"))
        let estimates = ShareCodeEstimates(configuration)
        self.waits = waits
        counters = ShareCodeMetrics(database: database, clock: clock, waits: waits)
        sweep = ShareCodeSweep(database: database, estimates: estimates)
        service = ShareCodeService(
            codes: ShareCodeRegistry(
                database: database, clock: clock, limits: limits, contents: contents, origins: origins,
                live: estimates.live, metrics: counters),
            claims: UmidClaims(
                database: database, clock: clock, limits: limits,
                key: keyring.key(ofApp: ShareCodesApp.name, for: "tokens"), origins: origins, umids: estimates.umids),
            requests: StatusRequests(
                database: database, clock: clock, limits: limits, contents: contents, origins: origins,
                stored: estimates.requests, waits: waits),
            inbox: Inbox(
                database: database, clock: clock, contents: contents, tokens: PageTokens(keyring: keyring), waits: waits
            ),
            collisions: Collisions(database: database, clock: clock, limits: limits, metrics: counters),
            health: ShareCodeHealth(database: database, clock: clock, state: state))
        // Calls that wait would delay the end of the gateway.
        stopWatch = Task {
            for await isServing in state.changes() where !isServing { waits.end() }
        }
    }

    deinit { stopWatch.cancel() }

    func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .apps else { return }
        service.register(in: &router)
        for method in ShareCodeServiceMethods.all {
            router.apply(MethodRules(maximumRequest: Self.largestRequest), to: method)
        }
    }

    var sweeps: [Sweep] { sweep.all }

    var metrics: [any MetricSource] { [counters] }
}
