import Accounts
import AppProto
package import AppSupport
package import Capability
package import Database
import Members
import Protobuf

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
