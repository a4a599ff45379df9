import AppSupport
import Configuration
import Database
import TestSupport
import Testing

@testable import Serve

/// The tables of apps. The rules hold for every app, so no test names one.
@Suite(.timeLimited) struct GatewayAppsTests {
    @Test func migrationsOfDisabledAppsAreDormant() {
        let migrations = AppsConfiguration().migrations
        #expect(migrations.filter { !$0.isDormant }.isEmpty)
        #expect(Set(migrations.map(\.name)).count == migrations.count)
    }

    @Test(arguments: AppsConfiguration.known.map { $0.name })
    func enabledAppHasItsTables(_ name: String) throws {
        let configuration = try Configuration(
            ServeOptions(listen: ["apps": "127.0.0.1:1"]),
            variables: ["DATA_GATEWAY_APPS__\(name.uppercased())__ENABLED": "true"])
        let own = AppsConfiguration.known.filter { $0.name == name }.flatMap { $0.migrations }.map(\.name)
        let migrations = configuration.apps.migrations
        #expect(migrations.filter { !$0.isDormant }.map(\.name) == own)
        #expect(Set(migrations.map(\.name)).count == migrations.count)
    }

    @Test func gatewayKnowsTheTablesOfApps() {
        let known = Set(GatewayModules.migrations.map(\.name))
        let own = AppsConfiguration.known.flatMap { $0.migrations }.map(\.name)
        #expect(Set(own).subtracting(known) == [])
    }
}
