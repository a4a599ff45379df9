import Accounts
import Basics
import StoreProtocol

/// A place that the configuration lets jobs copy to.
package struct CopyTarget: Sendable {
    let place: any DestinationTarget
    /// Whose jobs may copy there; `nil` = everybody's, and where the gateway has several organizations each below a folder of
    /// its name.
    package let organizations: [ConfiguredOrganization]?

    /// - Parameter organizations: by name.
    init(_ place: any DestinationTarget, organizations: [String]?) {
        self.place = place
        self.organizations = organizations.map { names in
            names.map { ConfiguredOrganization(setting: "copy.destinations \(place.name)", name: $0) }
        }
    }

    /// The target's name for people.
    package var name: String { place.name }
}

/// What the configuration says of a destination; each kind of destination has its own, beside its writer.
protocol DestinationTarget: Sendable {
    /// For people; no two targets share it.
    var name: String { get }

    /// The writer for a place that a job names; `nil` where the place is not this target, or not below it.
    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)?
}
