import Accounts
import AppProto
package import AppSupport
import Basics
package import Capability
package import Database
import GatewayAPI
import Members
package import Protobuf
import RPC
package import Webhooks

/// The app for companions: people who follow the same plan are matched in pairs, and each sees the other's tasks.
package struct CompanionsApp: App {
    package static let name = "companions"

    package static var migrations: [Migration] { MemberRecords.migrations + CompanionMigrations.all }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsCompanionsProto],
            routes: CompanionServiceMethods.routes + CompanionAccountServiceMethods.routes
                + CompanionOperatorServiceMethods.routes,
            access: AccessTable([
                // The services authenticate: phones send a password, the credential of a session, or its cookie.
                (.anyone, CompanionServiceMethods.all + CompanionAccountServiceMethods.all),
                (.user(.admin), CompanionOperatorServiceMethods.all),
            ]), comments: AppProtoFiles.comments)
    }

    package static var eventTypes: [EventType] { [MatchEvents.matched] }

    let configuration: CompanionsConfiguration

    package init(_ settings: AppSettings) {
        configuration = CompanionsConfiguration(settings)
    }

    package func adapt(_ style: inout RESTStyle) {
        style.protoNames = configuration.usesDocumentNames
    }

    package func open(_ environment: AppEnvironment) async throws -> any Capability {
        try await RunningCompanions(environment, configuration)
    }
}

/// The app while the gateway serves.
final class RunningCompanions: Capability {
    /// The largest requests in bytes: with a picture, with a document, and others.
    private static let largestWithPicture = MemberPictures.largest + 64 * 1024
    private static let largestDocument = 4 << 20
    private static let largestRequest = 64 * 1024

    let service: CompanionService
    let account: CompanionAccountService
    let operators: CompanionOperatorService
    let sweeps: [Sweep]
    let metrics: [any MetricSource]
    private let stopWatch: Task<Void, Never>

    init(_ environment: AppEnvironment, _ configuration: CompanionsConfiguration) async throws {
        let (database, clock) = (environment.modules.database, environment.modules.clock)
        let organization = try await AppOrganization.open(
            configuration.organization, of: CompanionsApp.name, database: database, at: clock.now())
        let plans =
            try configuration.plansFile.isEmpty
            ? PlanCatalog(json: PlanCatalog.standard) : PlanCatalog(path: configuration.plansFile)
        let sessions = MemberSessions(environment, organization: organization)
        let news = Signal()
        let limits = CompanionLimits(clock: clock)
        let callers = CompanionCallers(
            database: database, clock: clock, organization: organization, sessions: sessions,
            passwords: environment.accounts.memberPasswords, limits: limits)
        let matching = Matching(
            database: database, clock: clock, plans: plans, rematchTime: configuration.rematchTime, news: news,
            events: MatchEvents(outbox: environment.outbox, organization: organization.reference))
        let documents = CompanionDocuments(database: database, clock: clock, matching: matching, limits: limits)
        // The reads that strangers cause.
        let reads = BackgroundReads(of: database, for: "companions")
        let registration = Registration(
            callers: callers, limits: limits, accounts: MemberAccounts(environment),
            minimumPassword: configuration.minimumPassword, mostMembers: configuration.mostMembers, reads: reads)
        environment.accounts.userRemoval.beforeEach { user, now, connection in
            guard organization.has(user) else { return }
            try matching.end(of: user.id, for: .accountDeleted, at: now, in: connection)
        }
        let inbox = CompanionInbox(
            database: database, clock: clock, documents: documents, news: news, state: environment.state)
        let counters = CompanionMetrics(database: database)
        service = CompanionService(
            callers: callers, limits: limits, registration: registration, documents: documents,
            pictures: MemberPictures(database: database, reads: reads), matching: matching, metrics: counters)
        account = CompanionAccountService(
            callers: callers, limits: limits, registration: registration, matching: matching, inbox: inbox)
        operators = CompanionOperatorService(organization: organization, inbox: inbox)
        let sweep = CompanionSweep(
            database: database, plans: plans, news: news,
            retention: max(configuration.rematchTime, CompanionsConfiguration.matchRetention))
        sweeps = [sessions.sweep] + sweep.all
        metrics = [counters]
        // Calls that wait would delay the end of the gateway.
        let state = environment.state
        stopWatch = Task {
            for await isServing in state.changes() where !isServing { news.notify() }
        }
    }

    deinit { stopWatch.cancel() }

    func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .apps else { return }
        service.register(in: &router)
        account.register(in: &router)
        operators.register(in: &router)
        let large = [
            CompanionServiceMethods.registerCompanion: Self.largestWithPicture,
            CompanionServiceMethods.uploadPicture: Self.largestWithPicture,
            CompanionServiceMethods.changeCompanion: Self.largestDocument,
        ]
        let methods =
            CompanionServiceMethods.all + CompanionAccountServiceMethods.all + CompanionOperatorServiceMethods.all
        for method in methods {
            let waits = method == CompanionAccountServiceMethods.watchMessages
            router.apply(
                MethodRules(waits: waits, maximumRequest: large[method] ?? Self.largestRequest), to: method)
        }
    }
}
