import AppProto
import Basics
import Database
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LibraryArchive

@Suite(.timeLimited) struct DigestSearchTests {
    /// A member's searches can take all the time that there is, and the lists of all users are read in the background.
    @Test func searchesAndListsDoNotWaitForEachOther() async throws {
        let path = NSTemporaryDirectory() + "archive-\(UUID().uuidString).db"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let database = try Database(path: path, migrations: LibraryMigrations.all)
        defer { database.close() }
        let search = DigestSearch(reads: BackgroundReads(of: database, for: "archive"), clock: SystemClock())
        let query = try DigestQuery(SearchDigestsRequest(keyword: "x", type: "sentence"))
        let isOver = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            await withCheckedContinuation { started in
                group.addTask {
                    try await database.readInBackground { _ in
                        started.resume()
                        isOver.wait()
                    }
                }
            }
            let found = try await search.run(query, of: 1)
            #expect(found.results.isEmpty && !found.hasMore)
            isOver.signal()
            try await group.waitForAll()
        }
    }
}
