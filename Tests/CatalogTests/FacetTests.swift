import Accounts
import Basics
import Database
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct FacetTests {
    private func facets(
        _ scene: CatalogScene, _ filter: String = "", facet: String = "", contains: String = "", limit: Int32 = 0,
        isSystem: Bool = false
    ) async throws -> [ObjectFacet] {
        try await scene.management.getObjectFacets(
            GetObjectFacetsRequest(filter: filter, facet: facet, valueContains: contains, valueLimit: limit),
            context: scene.context(
                ObjectManagementServiceMethods.getObjectFacets, as: scene.user(1, isSystem: isSystem))
        ).facets
    }

    /// Objects of 45 runs, the first ones with most objects, by devices of which one has a name, at two sites.
    private func scene() throws -> CatalogScene {
        let scene = try CatalogScene()
        for number in 0..<90 {
            let run = min(number, number - 45 < 0 ? number : 89 - number)
            try scene.add(
                size: Int64(number + 1), site: number % 2 == 0 ? 1 : 7,
                device: number % 3 == 0 ? OneDevice.id : "260427-1000\(number % 30 + 10)", tags: ["run": "Run-\(run)"])
        }
        return scene
    }

    /// The same for all objects, whose numbers are stored, and for a filter, whose matches are counted.
    @Test(arguments: ["", "size>0"]) func facetsTellHowManyValuesThereAre(_ filter: String) async throws {
        let scene = try scene()
        let all = try await facets(scene, filter)
        let run = try #require(all.first { $0.name == "raw_tags.run" })
        #expect((run.values.count, run.totalValues, run.isLowerBound) == (20, 45, false))
        let site = try #require(all.first { $0.name == "site" })
        #expect((site.values.count, site.totalValues) == (2, 2))
        let device = try #require(all.first { $0.name == "device" })
        #expect((device.values.count, device.totalValues) == (20, 21))
        let more = try await facets(scene, filter, facet: "raw_tags.run", limit: 1000)
        #expect(more.map(\.name) == ["raw_tags.run"] && more[0].values.count == 45)
    }

    @Test(arguments: ["", "size>0"]) func valuesAreFoundByTheirPartsAndNames(_ filter: String) async throws {
        let scene = try scene()
        func found(_ facet: String, _ part: String, limit: Int32 = 0) async throws -> [String] {
            let found = try await facets(scene, filter, facet: facet, contains: part, limit: limit)
            #expect(found.map(\.name) == [facet])
            return found.flatMap { $0.values.map(\.value) }.sorted()
        }
        #expect(try await found("raw_tags.run", "UN-4") == ["Run-4", "Run-40", "Run-41", "Run-42", "Run-43", "Run-44"])
        #expect(try await found("raw_tags.run", "nothing") == [])
        #expect(try await found("device", "icker") == [OneDevice.id])
        #expect(try await found("device", "000001") == [OneDevice.id])
        #expect(try await found("site", "MEN W") == ["7"])
        #expect(try await found("site", "7") == [])
        let cut = try await facets(scene, filter, facet: "raw_tags.run", contains: "4", limit: 2)
        #expect((cut[0].values.count, cut[0].totalValues) == (2, 9))
    }

    @Test func allOrganizationsHaveTheSums() async throws {
        let scene = try scene()
        for number in 0..<30 { try scene.add(size: 500, organization: 2, tags: ["run": "other-\(number)"]) }
        let run = try #require(try await facets(scene, isSystem: true).first { $0.name == "raw_tags.run" })
        #expect((run.values.count, run.totalValues) == (20, 75))
    }

    @Test func malformedRequestIsRefused() async throws {
        let scene = try CatalogScene()
        for (facet, part, limit) in [
            ("color", "", 0), ("raw_tags.", "", 0), ("device", "", 1001), ("device", "", -1),
            ("device", String(repeating: "x", count: 257), 0),
        ] as [(String, String, Int32)] {
            let error = await refusal { _ = try await facets(scene, facet: facet, contains: part, limit: limit) }
            #expect(error?.detail == .invalidArgument, "\(facet) \(part) \(limit)")
        }
    }

    @Test func retiredDevicesAreNotCounted() async throws {
        let scene = try CatalogScene(devices: RetiredDevices())
        for number in 0..<30 { try scene.add(size: 1, device: "260427-0000\(number + 10)") }
        for filter in ["", "size>0"] {
            let device = try #require(try await facets(scene, filter).first { $0.name == "device" })
            #expect((device.values.count, device.totalValues) == (20, 27))
        }
    }
}

/// A directory in which three devices are retired.
private struct RetiredDevices: DeviceDirectory {
    private let base = OneDevice()

    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice? { nil }

    func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        try base.displayNames(organizationID: organizationID, in: connection)
    }

    func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64 { 0 }

    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> {
        Set(ids).intersection(["260427-000011", "260427-000012", "260427-000039"])
    }

    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {}
}
