import Accounts
import AppProto
package import AppSupport
package import Capability
package import Database
import Members
package import Protobuf
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
