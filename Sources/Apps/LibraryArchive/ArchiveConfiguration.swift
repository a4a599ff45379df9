import AppSupport

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

    init(_ settings: inout some AppSettings) throws {
        organization = try settings.text(
            "organization", default: "archive", unit: "name", bounds: "1–64 letters, digits or `. _ @ + -`")
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
