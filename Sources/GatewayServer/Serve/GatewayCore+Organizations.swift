import Accounts
import Basics
import Configuration
import CopyJobs
import Database
import Identity
import ObjectStore
import Webhooks

/// The organizations that the configuration names.
extension GatewayCore {
    /// Records the organizations in the configuration, and warns of settings that may not work as intended.
    func checkOrganizations(of configuration: Configuration) async throws {
        let destinations = configuration[CopyJobsConfiguration.self].destinations
        let named =
            configuration[WebhooksConfiguration.self].webhooks.compactMap(\.configuredOrganization)
            + destinations.flatMap { $0.organizations ?? [] }
            + configuration[IdentityConfiguration.self].providers.compactMap(\.configuredOrganization)
        let reused = try await database.write(mayUseReserve: true) { try ConfiguredOrganization.record(named, in: $0) }
        for named in reused {
            log.write(
                "the configuration names a deleted organization, and another organization has its name now",
                [
                    "setting": named.setting, "organization": named.name,
                    "consequence": "the setting does not apply to the new organization",
                    "hint": "to apply it, remove the setting, restart, and add it again",
                ], level: .warning)
        }
        guard try await database.read({ try Accounts.hasSeveralOrganizations(in: $0) }) else { return }
        for destination in destinations where destination.organizations == nil {
            log.write(
                "several organizations share a copy destination",
                [
                    "destination": destination.name,
                    "consequence": "each organization may only copy below a folder of its name",
                    "hint": "set organizations of the destination in copy.destinations",
                ], level: .warning)
        }
    }

    /// A misspelled organization would leave the lines of the audit log without one.
    static func reportUnknownOrganizations(
        of keys: [StaticKey], _ database: Database, _ log: Logger
    ) throws {
        for key in keys {
            guard let name = key.organization,
                try database.readBlocking({ try Accounts.organization(named: name, in: $0) }) == nil
            else { continue }
            log.write(
                "the organization of a static key does not exist: create it, or correct object_store.static_keys",
                ["id": key.id, "organization": name], level: .warning)
        }
    }
}
