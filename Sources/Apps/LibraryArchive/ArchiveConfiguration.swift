import AppSupport
import Capability
import Members

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

    init(_ settings: inout some AppSettings) throws {
        organization = try settings.text(
            "organization", default: "archive", unit: "name", bounds: "1–64 letters, digits or `. _ @ + -`")
        hosts = OwnHosts(
            try settings.text("host_names", default: "", unit: "names", bounds: "host names, separated by commas"))
        guard hosts.areValid else {
            throw settings.wrong("host_names", "must be host names without ports, separated by commas")
        }
        let text = try settings.text(
            "access", default: Access.member.rawValue, unit: "word", bounds: "`member`, `anyone`")
        guard let access = Access(rawValue: text) else {
            throw settings.wrong("access", "must be member or anyone, not \(text)")
        }
        guard access == .member || settings.isOnLoopback || !settings.isEnabled else {
            throw settings.wrong("access", "can be anyone only if listeners.apps is a loopback address")
        }
        self.access = access
    }
}
