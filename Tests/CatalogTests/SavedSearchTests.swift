import Accounts
import Basics
import Database
import GRPCWire
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct SavedSearchTests {
    private typealias Methods = ObjectManagementServiceMethods

    @discardableResult
    private func save(
        _ scene: CatalogScene, _ name: String, _ filter: String = "weather=rain", order: String = "",
        columns: [String] = [], organization: Int64 = 1
    ) async throws -> SavedSearch {
        try await scene.management.saveSearch(
            SaveSearchRequest(name: name, filter: filter, orderBy: order, columns: columns),
            context: scene.context(Methods.saveSearch, as: scene.user(organization)))
    }

    private func all(_ scene: CatalogScene, organization: Int64 = 1) async throws -> [SavedSearch] {
        try await scene.management.listSavedSearches(
            ListSavedSearchesRequest(),
            context: scene.context(Methods.listSavedSearches, as: scene.user(organization))
        ).savedSearches
    }

    private func delete(_ scene: CatalogScene, _ id: Int64, organization: Int64 = 1) async throws {
        _ = try await scene.management.deleteSavedSearch(
            DeleteSavedSearchRequest(searchID: id),
            context: scene.context(Methods.deleteSavedSearch, as: scene.user(organization)))
    }

    @Test func searchesBelongToTheOrganization() async throws {
        let scene = try CatalogScene()
        let rain = try await save(scene, "Rain", "rain age<7d", order: "size desc", columns: ["device", "tag:run"])
        #expect((rain.filter, rain.orderBy, rain.columns) == ("rain age<7d", "size desc", ["device", "tag:run"]))
        try await save(scene, "All", "")
        #expect(try await all(scene).map(\.name) == ["All", "Rain"])
        #expect(try await all(scene, organization: 2).isEmpty)
        #expect(await refusal { try await delete(scene, rain.searchID, organization: 2) }?.status == .notFound)
        try await save(scene, "Rain", organization: 2)
        try await delete(scene, rain.searchID)
        #expect(try await all(scene).map(\.name) == ["All"])
        #expect(try await all(scene, organization: 2).map(\.filter) == ["weather=rain"])
    }

    @Test func sameNameReplacesTheSearch() async throws {
        let scene = try CatalogScene()
        let first = try await save(scene, "Rain", columns: ["device"])
        let second = try await save(scene, "Rain", "weather=snow")
        #expect(second.searchID == first.searchID)
        #expect(try await all(scene).map { [$0.filter] + $0.columns } == [["weather=snow"]])
    }

    @Test func malformedSearchIsRefusedAndNothingIsStored() async throws {
        let scene = try CatalogScene()
        for (name, filter, order, columns) in [
            ("", "", "", []), ("a", "name:*", "", []), ("a", "", "color", []), ("a", "", "", [""]),
            ("a", "", "", ["a\nb"]), ("a", "", "", Array(repeating: "device", count: 21)),
        ] as [(String, String, String, [String])] {
            let error = await refusal { try await save(scene, name, filter, order: order, columns: columns) }
            #expect(error?.detail == .invalidArgument, "\(name) \(filter) \(order) \(columns)")
        }
        #expect(try await all(scene).isEmpty)
    }

    @Test func organizationHasAtMostAHundred() async throws {
        let scene = try CatalogScene()
        for number in 1...100 { try await save(scene, "search \(number)") }
        #expect(await refusal { try await save(scene, "one more") }?.status == .failedPrecondition)
        try await save(scene, "search 7", "weather=snow")
        try await save(scene, "one more", organization: 2)
        #expect(try await all(scene).count == 100)
    }
}
