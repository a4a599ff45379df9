package import Accounts
import Basics
import Database
import HTTPClient
import StoreProtocol

/// A destination in the configuration.
package struct CopyTarget: Sendable {
    let place: any DestinationTarget
    /// The organizations that may copy there; `nil` = all, and if the gateway has several, each below a folder with its name.
    package let organizations: [ConfiguredOrganization]?

    /// - Parameter organizations: the names.
    init(_ place: any DestinationTarget, organizations: [String]?) {
        self.place = place
        self.organizations = organizations.map { names in
            names.map { ConfiguredOrganization(setting: "copy.destinations \(place.name)", name: $0) }
        }
    }

    /// The target's name for people.
    package var name: String { place.name }

    /// Whether the organization may copy there.
    func isOpen(to organizationID: Int64, in connection: ReadConnection) throws -> Bool {
        try organizations?.contains { try $0.id(in: connection) == organizationID } ?? true
    }

    /// Whether the organization may copy there; binds the configured names.
    func admits(_ organizationID: Int64, in connection: Connection) throws -> Bool {
        try organizations?.contains { try $0.bind(in: connection) == organizationID } ?? true
    }

    /// Returns the folder for an organization's files, if organizations share the target: without a list of organizations, it is
    /// open to all.
    func folder(of organizationID: Int64, in connection: ReadConnection) throws -> String? {
        organizations == nil ? try Accounts.nameAmongOthers(organizationID, in: connection) : nil
    }
}

/// The configuration of a destination; each kind of destination has a type of its own, beside its writer.
protocol DestinationTarget: Sendable {
    /// The name for people; unique among all targets.
    var name: String { get }
    /// The values by which a request names the target.
    var place: CopyPlace { get }

    /// Returns the writer for a job's destination; `nil` if the destination is not this target, or below it.
    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)?
}

/// Writes items to one destination.
protocol DestinationWriter: Sendable {
    /// Returns the reason why the key is invalid at the destination; `nil` = it is valid.
    func objection(to key: String) -> String?

    /// Returns the path of a key from the destination's root on; equal paths are the same file or object.
    func path(of key: String) -> String

    /// Determines what the destination already has under the key.
    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent

    /// Writes the item, continuing an earlier attempt. On return it is complete, and durable if the destination is on this machine;
    /// before that nothing exists under the key.
    ///
    /// - Parameters:
    ///   - found: what was found there before.
    ///   - replaces: whether other content that exists by then may be overwritten.
    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws

    /// Removes the remains of an item that will not be finished.
    func abandon(_ item: CopyItem) async throws
}

/// The content of a destination under a key.
enum DestinationContent: Sendable, Hashable {
    case nothing
    /// The same bytes as the source.
    case same
    case another
    /// The destination does not tell.
    case unknown
}

/// The source of a copy, which never changes.
struct CopySource: Sendable {
    let bytes: any RangedBytes
    let size: Int64
    let crc64: UInt64
}

/// The services of the gateway that writers use.
struct CopyEnvironment: Sendable {
    let clock: any WallClock
}

/// Records the progress of an attempt. Each function returns when the record is durable, and throws `CancellationError` if the job
/// was canceled.
struct CopyProgress: Sendable {
    /// Records the number of bytes at the destination, counted from the first.
    let reached: @Sendable (_ bytes: Int64) async throws -> Void
    /// Records the multipart upload that a later attempt will continue.
    let began: @Sendable (_ multipart: CopyItem.Multipart?) async throws -> Void
}
