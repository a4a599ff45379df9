import Accounts
import Basics
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
}

/// The configuration of a destination; each kind of destination has a type of its own, beside its writer.
protocol DestinationTarget: Sendable {
    /// The name for people; unique among all targets.
    var name: String { get }

    /// Returns the writer for a job's destination; `nil` if the destination is not this target, or below it.
    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)?
}
