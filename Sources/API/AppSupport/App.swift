package import Capability
package import Database
package import Protobuf
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
