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

/// The limits of a library. They also bound the memory of an import and of an export.
enum LibraryLimits {
    /// The size of an archive that is imported, in bytes.
    static let archive: Int64 = 64 << 20
    /// The uncompressed size of an archive's documents, in bytes.
    static let documents: Int64 = 64 << 20
    /// The number of records.
    static let records = 100_000
    /// The number of relations between records.
    static let relations = 500_000
    /// The size of all stored texts, in bytes.
    static let texts: Int64 = 48 << 20
    /// The size of the names that documents repeat at each related record, in bytes.
    static let repeatedTexts: Int64 = 32 << 20
    /// The size of a digest's content and of a book's summary, in bytes.
    static let longText = 256 << 10
    /// The size of any other text, in bytes.
    static let shortText = 4096
    /// The size of one record in JSON, in bytes.
    static let record = 4 << 20
    /// The number of values in one record. A value of two bytes in JSON can take a hundred in memory.
    static let values = 200_000
}
