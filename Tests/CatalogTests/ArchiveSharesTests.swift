import Accounts
import Basics
import Database
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import TimeZones

@testable import Catalog

@Suite(.timeLimited) struct ArchiveSharesTests {
    private let scene: CatalogScene
    private let archives: ObjectArchives
    private let limits = LimitCounts()

    init() throws {
        scene = try CatalogScene()
        archives = ObjectArchives(
            database: scene.database, store: scene.store, clock: scene.clock,
            names: DisplayNameSearch(devices: OneDevice()), configuration: CatalogConfiguration(), limits: limits)
        for organization in [Int64(1), 2] { try scene.add(bytes: [1, 2, 3], organization: organization) }
        // Archives have objects with a checksum only.
        _ = try scene.database.writeBlocking { try $0.execute("UPDATE objects SET crc64 = 1") }
    }

    /// Begins an archive for each user while those before are being sent, and returns the message of each refusal.
    private func refusals(_ users: ArraySlice<UserPrincipal>) async throws -> [String] {
        guard let user = users.first else { return [] }
        let caller = try Caller(scene.context(ObjectArchiveServiceMethods.zipObjects, as: user))
        var later: [String] = []
        do {
            try await archives.make(of: [], filter: RequestedFilter("size>=0", in: .system), by: caller) { _ in
                later = try await refusals(users.dropFirst())
            }
        } catch let error as RPCError where error.detail == .overloaded {
            return [error.message] + (try await refusals(users.dropFirst()))
        }
        return later
    }

    private func users(_ count: Int, organization: Int64) -> [UserPrincipal] {
        (0..<count).map { scene.user(organization, id: Int64($0)) }
    }

    @Test func userHasAQuarter() async throws {
        let one = Array(repeating: scene.user(1), count: 6)
        #expect(
            try await refusals(one[...])
                == Array(repeating: "the user already downloads 4 archives: wait until one is complete", count: 2))
        #expect(limits.all == ["archives": 2])
        // All have ended.
        #expect(try await refusals(one.prefix(4)) == [])
    }

    @Test func organizationHasHalfAndOthersDownloadMeanwhile() async throws {
        let all = users(9, organization: 1) + [scene.user(2)]
        #expect(
            try await refusals(all[...]) == [
                "the organization already downloads 8 archives: wait until one is complete"
            ])
    }
}
