package import Accounts
package import Crypto
import Database

/// A receiver of events in the configuration.
package struct Webhook: Sendable {
    /// The name in the database and in commands; a webhook with another name is another one.
    package let name: String
    /// The URL, `http` or `https`.
    package let url: String
    /// The keys of the signatures: one, or also the previous one while the receiver changes over.
    package let keys: [Secret]
    /// The types of events; empty = all.
    package let types: Set<EventType>
    /// The name of the organization whose events are sent; `nil` = all.
    package let organization: String?
    /// The PEM file of authorities for the receiver's certificate; `nil` = those that the system trusts.
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

    /// The organization in its configuration.
    package var configuredOrganization: ConfiguredOrganization? {
        organization.map { ConfiguredOrganization(setting: "webhooks.\(name)", name: $0) }
    }

    func wants(_ type: EventType) -> Bool { types.isEmpty || types.contains(type) }

    /// Whether it receives events of the organization; binds the configured name.
    func isFor(_ organizationID: Int64, in connection: Connection) throws -> Bool {
        try configuredOrganization.map { try $0.bind(in: connection) == organizationID } ?? true
    }
}
