import Accounts
import AppProto
package import AppSupport
package import Capability
package import Database
import Protobuf

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
