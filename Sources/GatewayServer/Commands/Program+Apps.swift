package import AppSupport
import Companions
import Database
import LibraryArchive
import Serve
import ShareCodes
import SignIn

extension Program {
    /// All apps of this program, in the order in which their settings are read. Only this list names them.
    package static let apps: [any App.Type] = [
        ShareCodesApp.self,
        SignInApp.self,
        CompanionsApp.self,
        LibraryArchiveApp.self,
    ]

    /// The tables that a database may have.
    static let migrations = GatewayModules.migrations(apps)
}
