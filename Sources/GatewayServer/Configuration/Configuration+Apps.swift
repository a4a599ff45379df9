package import AppSupport
import Companions
import LibraryArchive
import ShareCodes
import SignIn

extension AppsConfiguration {
    /// All apps of this program, in the order in which their settings are read. Only this list names them.
    package static let known: [any App.Type] = [
        ShareCodesApp.self,
        SignInApp.self,
        CompanionsApp.self,
        LibraryArchiveApp.self,
    ]
}
