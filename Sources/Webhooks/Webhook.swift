import Accounts
import Crypto
import Database

/// Where events are sent, as the configuration has it.
package struct Webhook: Sendable {
    /// What the database and commands know it by: with another name it is another webhook.
    package let name: String
    /// `http` or `https`.
    package let url: String
    /// The keys of the signatures: one, or also the one before while the receiver changes over.
    package let keys: [Secret]
    /// Empty = all.
    package let types: Set<EventType>
    /// Only events of this one, by name; `nil` = of all.
    package let organization: String?
    /// PEM file of the authorities whose certificate the receiver must show; `nil` = those that the system trusts.
    package let authorities: String?

    package init(
        name: String, url: String, keys: [Secret], types: Set<EventType> = [], organization: String? = nil,
        authorities: String? = nil
    ) {
        self.name = name
        self.url = url
        self.keys = keys
        self.types = types
        self.organization = organization
        self.authorities = authorities
    }

    /// The organization that its configuration names.
    package var configuredOrganization: ConfiguredOrganization? {
        organization.map { ConfiguredOrganization(setting: "webhooks.\(name)", name: $0) }
    }

    func wants(_ type: EventType) -> Bool { types.isEmpty || types.contains(type) }

    /// Whether events of the organization are for it.
    ///
    /// - Parameter connection: the writer's.
    func isFor(_ organizationID: Int64, in connection: Connection) throws -> Bool {
        try configuredOrganization.map { try $0.id(in: connection) == organizationID } ?? true
    }
}
