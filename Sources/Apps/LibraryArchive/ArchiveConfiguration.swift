import AppSupport
import Capability
import Members
import Settings

/// The settings of the app.
struct ArchiveConfiguration: Sendable {
    /// The callers who have a library.
    enum Access: String, Sendable {
        /// Members, each with a library of their own.
        case member
        /// Everybody on this machine, with one library.
        case anyone
    }

    /// The name of the app's organization.
    var organization: String
    var access: Access
    /// The host names by which the library of everybody is used.
    var hosts: OwnHosts

    init(_ settings: AppSettings) {
        let section = settings.section
        organization = section.text(
            "organization", default: "archive", unit: "name", bounds: "1–64 letters, digits or `. _ @ + -`")
        hosts = OwnHosts(
            section.text("host_names", default: "", unit: "names", bounds: "host names, separated by commas"))
        if !hosts.areValid { section.reject("host_names", "must be host names without ports, separated by commas") }
        let text = section.text("access", default: Access.member.rawValue, unit: "word", bounds: "`member`, `anyone`")
        access = Access(rawValue: text) ?? .member
        if text != access.rawValue { section.reject("access", "must be member or anyone, not \(text)") }
        if access == .anyone, !settings.isOnLoopback, settings.isEnabled {
            section.reject("access", "can be anyone only if listeners.apps is a loopback address")
        }
    }
}
