package import Accounts
import Basics
import Database
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
