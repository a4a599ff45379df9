import Database
import GatewayTesting
import TestSupport
import Testing

@testable import Companions

@Suite(.timeLimited) struct MemberPicturesTests {
    /// Everybody can request pictures without a limit, and the lists of all users are read in the background.
    @Test func picturesAndListsDoNotWaitForEachOther() async throws {
        let base = try TestDatabase(CompanionMigrations.all)
        let pictures = MemberPictures(
            database: base.database, reads: BackgroundReads(of: base.database, for: "companions"))
        let name = String(repeating: "0", count: 32) + ".png"
        let isStandard = try await base.database.occupyingBackgroundReads { try await pictures.find(name)?.isStandard }
        #expect(isStandard == true)
    }
}
