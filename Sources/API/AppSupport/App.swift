import Accounts
package import Capability
package import Database
package import Protobuf
import RPC
package import Settings
package import Webhooks

/// An application for users of its own, beside the gateway's services: one that is a guest in the gateway's process.
///
/// A value is the configuration of an app that is enabled. The gateway knows apps by this protocol only; each is a module below
/// `Sources/Apps` that can be removed with the lines that name it.
package protocol App: Sendable {
    /// The app's section in the configuration, `apps.NAME`, in snake case.
    static var name: String { get }

    /// The app's tables. They exist once the app was enabled.
    static var migrations: [Migration] { get }

    /// The app's calls.
    static var api: AppAPI { get }

    /// The types of the events for webhooks that the app reports; by default none.
    static var eventTypes: [EventType] { get }

    /// Whether clients of the app have access tokens, which other servers may want to verify; by default not.
    static var issuesAccessTokens: Bool { get }

    /// Reads the keys of the app's section, except `enabled`, also if the app is disabled.
    init(_ settings: AppSettings)

    /// Changes the REST form of the app's calls as its configuration asks; by default nothing.
    func adapt(_ style: inout RESTStyle)

    /// Connects the app to the gateway's modules; its tables exist by now.
    func open(_ environment: AppEnvironment) async throws -> any Capability
}

extension App {
    package static var eventTypes: [EventType] { [] }

    package static var issuesAccessTokens: Bool { false }

    package func adapt(_ style: inout RESTStyle) {}
}

/// The calls of an app: its .proto files, their routes, and the callers for each method.
package struct AppAPI: Sendable {
    /// The file that declares the app's services. All files that it imports are files of the gateway or of other apps.
    package let files: [FileDescriptor]
    package let routes: [HTTPRoute]
    package let access: AccessTable
    /// The comments of the files: on each line a full name, a tab and the text.
    package let comments: String

    package init(files: [FileDescriptor], routes: [HTTPRoute], access: AccessTable, comments: String = "") {
        self.files = files
        self.routes = routes
        self.access = access
        self.comments = comments
    }
}

/// The section of an app in the configuration, and what it depends on.
///
/// Every key has to be read, also if the app is disabled, since keys that were not read are refused as misspelled. Each must have
/// a row in the app's page.
package struct AppSettings {
    /// The section `apps.NAME`; its key `enabled` was read.
    package let section: SettingsReader
    package let isEnabled: Bool
    /// Whether the listener `apps` accepts connections from this machine only.
    package let isOnLoopback: Bool

    package init(_ section: SettingsReader, isEnabled: Bool = true, isOnLoopback: Bool = true) {
        self.section = section
        self.isEnabled = isEnabled
        self.isOnLoopback = isOnLoopback
    }
}
