import Basics
import Dispatch
import RPC
import TestSupport
import Testing

@testable import Backup

/// The one archive that is staged, while several people work with it.
@Suite(.timeLimited) struct StagingTests {
    private static func description(_ id: String) -> StagedDescription {
        StagedDescription(
            stagingID: id, createdAt: "2026-01-01T00:00:00Z", size: 1, storeID: "s", hasObjects: true, objectBytes: 0,
            missing: 0, damaged: 0)
    }

    @Test func onlyTheConfirmedArchiveIsApplied() throws {
        let staging = Staging(Self.description("first"))
        // Between the confirmation and the restart, another archive is staged.
        try staging.beginDiscard("first")
        staging.end("first", nil)
        try staging.begin("second")
        staging.expect("second", passphrase: nil)
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        _ = try staging.beginUpload("second")
        staging.end("second", Self.description("second"))
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        #expect(staging.complete?.stagingID == "second")
        try staging.beginRestart(applying: "second")
        #expect(throws: RPCError.self) { try staging.begin("third") }
    }

    @Test func theArrivalOfAnArchiveIsNotCutOffByAReturn() throws {
        let staging = Staging(nil)
        try staging.begin("first")
        staging.expect("first", passphrase: nil)
        _ = try staging.beginUpload("first")
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: nil) }
        staging.end("first", nil)
        try staging.beginRestart(applying: nil)
    }

    @Test func deletionOfPreviousDataAndAReturnToThemExcludeEachOther() throws {
        let staging = Staging(nil)
        let order = Lock<[String]>([])
        let (begun, attempted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let restart = TestThread {
            try? begun.waitForSignal()
            attempted.signal()
            #expect(throws: Never.self) { try staging.beginRestart(applying: nil) }
            order.withLock { $0.append("restart") }
        }
        try staging.excludingRestart {
            begun.signal()
            try attempted.waitForSignal()
            order.withLock { $0.append("deletion") }
        }
        try restart.join()
        #expect(order.withLock { $0 } == ["deletion", "restart"])
        #expect(throws: RPCError.self) { try staging.excludingRestart {} }
    }

    @Test func nothingElseHappensWhileAnArchiveIsRemoved() throws {
        let staging = Staging(Self.description("first"))
        try staging.beginDiscard("first")
        #expect(throws: RPCError.self) { try staging.begin("second") }
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        // The removal failed before it changed anything.
        staging.end("first", Self.description("first"))
        #expect(staging.complete?.stagingID == "first")
        try staging.beginDiscard("first")
        staging.end("first", nil)
        #expect(staging.complete == nil)
        try staging.begin("second")
        staging.expect("second", passphrase: nil)
        #expect(throws: RPCError.self) { try staging.beginUpload("first") }
        #expect(try staging.beginUpload("second") == nil)
    }
}
