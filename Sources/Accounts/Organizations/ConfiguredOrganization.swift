package import Database

/// An organization that the configuration names, e.g. in `webhooks.robots`.
///
/// The name is bound, by its id, to the first organization that has it: another organization that later takes the name of a deleted
/// one does not get its settings.
package struct ConfiguredOrganization: Sendable, Hashable {
    /// The setting's path without the last key.
    package let setting: String
    package let name: String

    package init(setting: String, name: String) {
        self.setting = setting
        self.name = name
    }

    /// Returns the organization's id: the one that the name is bound to, or else that of the organization with the name now; `nil`
    /// if there is neither. The name is not bound.
    package func id(in connection: ReadConnection) throws -> Int64? {
        try recorded(in: connection) ?? OrganizationRecords(connection).find(name: name)?.id
    }

    /// Binds the name, unless it is bound, to the organization that has it now.
    ///
    /// - Returns: the organization's id; `nil` if no organization ever had the name.
    package func bind(in connection: Connection) throws -> Int64? {
        if let known = try recorded(in: connection) { return known }
        guard let organization = try OrganizationRecords(connection).find(name: name) else { return nil }
        try connection.execute(
            "INSERT INTO configured_organizations (setting, name, organization_id) VALUES ($1, $2, $3)", setting, name,
            organization.id)
        return organization.id
    }

    /// Returns the id that ``bind(in:)`` recorded; `nil` if the name is not bound.
    private func recorded(in connection: ReadConnection) throws -> Int64? {
        try connection.first(
            "SELECT organization_id FROM configured_organizations WHERE setting = $1 AND name = $2", setting, name
        ) { $0.int64("organization_id") }
    }

    /// Records the organizations of all current settings, and forgets settings that no longer exist.
    ///
    /// - Returns: the settings whose organization was deleted while another one now has its name.
    package static func record(
        _ all: [ConfiguredOrganization], in connection: Connection
    ) throws -> [ConfiguredOrganization] {
        let known = try connection.query("SELECT setting, name FROM configured_organizations") {
            ConfiguredOrganization(setting: $0.text("setting"), name: $0.text("name"))
        }
        for removed in Set(known).subtracting(all) {
            try connection.execute(
                "DELETE FROM configured_organizations WHERE setting = $1 AND name = $2", removed.setting, removed.name)
        }
        return try all.filter { named in
            let id = try named.bind(in: connection)
            let holder = try OrganizationRecords(connection).find(name: named.name)
            return holder != nil && holder?.id != id
        }
    }
}
