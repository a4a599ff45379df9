import AppProto
import Basics
import Database
import GatewayTesting
import TestSupport
import Testing

@testable import LibraryArchive

@Suite(.timeLimited) struct DigestSearchTests {
    /// A member's searches can take all the time that there is, and the lists of all users are read in the background.
    @Test func searchesAndListsDoNotWaitForEachOther() async throws {
        let base = try TestDatabase(LibraryMigrations.all)
        let search = DigestSearch(reads: BackgroundReads(of: base.database, for: "archive"), clock: SystemClock())
        let query = try DigestQuery(SearchDigestsRequest(keyword: "x", type: "sentence"))
        let found = try await base.database.occupyingBackgroundReads { try await search.run(query, of: 1) }
        #expect(found.results.isEmpty && !found.hasMore)
    }
}
