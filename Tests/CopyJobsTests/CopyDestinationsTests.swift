import Accounts
import Basics
import Crypto
import GatewayTesting
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct CopyDestinationsTests {
    /// The names in the configuration are not bound while the organization does not exist, and a read cannot bind them.
    @Test func organizationCreatedAfterTheStartHasItsDestinations() async throws {
        let scene = try Scene()
        var configuration = CopyJobsConfiguration()
        configuration.destinations = [.folder(FolderTarget(root: scene.root), organizations: ["late"])]
        let clock = ManualClock()
        let registry = CopyJobRegistry(
            database: scene.database, clock: clock, identifiers: Identifiers(clock: clock),
            configuration: configuration,
            workers: CopyWorkers(
                database: scene.database, store: scene.store, clock: clock, configuration: configuration,
                log: .discarding))
        let other = OrganizationReference(id: 1, name: "o")
        #expect(try await registry.destinations(of: other).isEmpty)
        let late = OrganizationReference(id: try AccountRows(scene.database).addOrganization("late"), name: "late")
        #expect(try await registry.destinations(of: other).isEmpty)
        #expect(try await registry.destinations(of: late).map(\.target.name) == ["file://\(scene.root)"])
    }
}
