import Accounts
import AppProto
package import AppSupport
import Basics
package import Capability
package import Database
import GatewayAPI
import Members
import Protobuf
import RPC

/// The app for archives: a person's library of digests of books, which an app on a phone exports and imports.
package struct LibraryArchiveApp: App {
    package static let name = "archive"

    package static var migrations: [Migration] { MemberRecords.migrations + LibraryMigrations.all }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsArchiveProto],
            routes: ArchiveServiceMethods.routes + ArchivePageServiceMethods.routes,
            // Members have a cookie, which the handlers check.
            access: AccessTable([(.anyone, ArchiveServiceMethods.all + ArchivePageServiceMethods.all)]),
            comments: AppProtoFiles.comments)
    }

    let configuration: ArchiveConfiguration

    package init(_ settings: AppSettings) {
        configuration = ArchiveConfiguration(settings)
    }

    package func open(_ environment: AppEnvironment) async throws -> any Capability {
        try await RunningArchive(environment, configuration)
    }
}

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
        let tasks = LibraryTasks(modules.database.leases)
        let staging = LibraryStaging(database: modules.database)
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

/// The removal of libraries whose owner's account was deleted, and of those that an import left when the process or the disk failed.
/// Each step is a short transaction; a process that ends meanwhile continues after its start.
struct LibrarySweep: Sendable {
    private static let libraries = 100

    let staging: LibraryStaging
    let tasks: LibraryTasks
    /// The largest number of transactions of one round: other removals wait for its end. The largest library needs about 1,300.
    var batches = 1000

    var sweep: Sweep { Sweep("archive_libraries") { _ in try await removeLeft() } }

    /// - Returns: the number of removed libraries.
    func removeLeft() async throws -> Int {
        let left = try await staging.database.read { try LibraryGenerations($0).left(limit: Self.libraries) }
        var (count, batches) = (0, batches)
        // An import that begins from now on makes another one.
        for library in left {
            if let owner = library.owner, try await tasks.task(of: owner) == .importing { continue }
            repeat {
                guard batches > 0 else { return count }
                batches -= 1
            } while try await staging.removeBatch(of: library.id)
            count += 1
        }
        return count
    }
}
