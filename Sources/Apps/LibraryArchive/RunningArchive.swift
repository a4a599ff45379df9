import AppProto
import AppSupport
import Basics
import Capability
import Database
import GatewayAPI
import Members
import RPC

/// The app while the gateway serves.
struct RunningArchive: Capability {
    /// The largest request in bytes, except archives, which arrive in pieces.
    private static let largestRequest = 64 * 1024

    private let service: ArchiveService
    private let page = ArchivePageService()
    let sweeps: [Sweep]

    init(_ environment: AppEnvironment, _ configuration: ArchiveConfiguration) async throws {
        let modules = environment.modules
        let organization = try await AppOrganization.open(
            configuration.organization, of: LibraryArchiveApp.name, database: modules.database, at: modules.clock.now())
        let sessions = MemberSessions(environment, organization: organization)
        let shared =
            configuration.access == .anyone
            ? try await LibraryOwners.shared(organization, database: modules.database, at: modules.clock.now()) : nil
        // The searches and exports of one member take seconds if the library is large.
        let reads = BackgroundReads(of: modules.database, for: "archive")
        let files = LibraryFiles(directory: environment.spoolDirectory)
        let (tasks, staging) = (LibraryTasks(), LibraryStaging(database: modules.database))
        service = ArchiveService(
            owners: LibraryOwners(sessions: sessions, shared: shared, hosts: configuration.hosts), tasks: tasks,
            exports: ArchiveExport(reads: reads, clock: modules.clock, files: files),
            imports: ArchiveImport(staging: staging, files: files),
            search: DigestSearch(reads: reads, clock: modules.clock),
            accounts: MemberAccounts(environment))
        sweeps = [sessions.sweep, LibrarySweep(staging: staging, tasks: tasks).sweep]
    }

    func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .apps else { return }
        service.register(in: &router)
        page.register(in: &router)
        for method in ArchiveServiceMethods.all + ArchivePageServiceMethods.all
        where method != ArchiveServiceMethods.importArchive {
            router.apply(MethodRules(maximumRequest: Self.largestRequest), to: method)
        }
    }
}
