import Accounts
import AppProto
package import AppSupport
import Basics
package import Capability
import Crypto
package import Database
import GatewayAPI
import Protobuf
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

    init(
        _ environment: ModuleEnvironment, state: ServingState, configuration: ShareCodesConfiguration,
        monotonicTime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
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
                database: database, clock: clock, contents: contents, tokens: PageTokens(keyring: keyring),
                waits: waits,
                monotonicTime: monotonicTime),
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

/// The app for share codes: short codes under which phones leave encrypted data for a while, and requests between people.
package struct ShareCodesApp: App {
    package static let name = "share_codes"

    package static var migrations: [Migration] { ShareCodeMigrations.all }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsShareCodesProto], routes: ShareCodeServiceMethods.routes,
            access: AccessTable([(.anyone, ShareCodeServiceMethods.all)]), comments: AppProtoFiles.comments)
    }

    let configuration: ShareCodesConfiguration

    package init(_ settings: AppSettings) {
        configuration = ShareCodesConfiguration(settings)
    }

    package func open(_ environment: AppEnvironment) async throws -> any Capability {
        ShareCodes(environment.modules, state: environment.state, configuration: configuration)
    }
}

/// The state of the gateway for the app's test of its connection.
struct ShareCodeHealth: Sendable {
    let database: Database
    let clock: any WallClock
    let state: ServingState

    /// Whether calls are accepted: not while the gateway stops, and not after its database failed.
    var isAvailable: Bool { state.isServing && database.isWritable }

    /// The current time.
    var now: UnixTime { clock.now() }
}
