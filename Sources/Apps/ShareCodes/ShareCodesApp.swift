import Accounts
import AppProto
import AppSupport
import Basics
import Database
import RPC

/// The app for share codes: short codes under which phones leave encrypted data for a while.
package struct ShareCodesApp: App {
    package static let name = "share_codes"

    package static var migrations: [Migration] { [] }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsShareCodesProto], routes: ShareCodeServiceMethods.routes,
            access: AccessTable([(.anyone, ShareCodeServiceMethods.all)]), comments: AppProtoFiles.comments)
    }

    package init(_ settings: inout some AppSettings) throws {}

    package func open(_ environment: AppEnvironment) async throws -> any RunningApp {
        ShareCodes(environment)
    }
}
