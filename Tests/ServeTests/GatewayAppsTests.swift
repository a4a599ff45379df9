import AppSupport
import Commands
import Configuration
import Database
import TestSupport
import Testing

@testable import Serve

/// The tables of apps. The rules hold for every app, so no test names one.
@Suite(.timeLimited) struct GatewayAppsTests {
    @Test func migrationsOfDisabledAppsAreDormant() {
        let migrations = AppsConfiguration(known: Program.apps).migrations
        #expect(migrations.filter { !$0.isDormant }.isEmpty)
        #expect(Set(migrations.map(\.name)).count == migrations.count)
    }

    @Test(arguments: Program.apps.map { $0.name })
    func enabledAppHasItsTables(_ name: String) throws {
        let configuration = try Configuration(
            ServeOptions(listen: ["apps": "127.0.0.1:1"]), apps: Program.apps,
            variables: ["DATA_GATEWAY_APPS__\(name.uppercased())__ENABLED": "true"])
        let own = Program.apps.filter { $0.name == name }.flatMap { $0.migrations }.map(\.name)
        let migrations = configuration.apps.migrations
        #expect(migrations.filter { !$0.isDormant }.map(\.name) == own)
        #expect(Set(migrations.map(\.name)).count == migrations.count)
    }

    @Test func gatewayKnowsTheTablesOfApps() {
        let known = Set(GatewayModules.migrations(Program.apps).map(\.name))
        let own = Program.apps.flatMap { $0.migrations }.map(\.name)
        #expect(Set(own).subtracting(known) == [])
    }
}
