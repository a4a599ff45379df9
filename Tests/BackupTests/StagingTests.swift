import Basics
import Dispatch
import GRPCWire
import Proto
import RPC
import Synchronization
import TestSupport
import Testing

@testable import Backup

/// The one archive that is staged, while several people work with it.
@Suite(.timeLimited) struct StagingTests {
    private struct Refusal: Error {}

    private static func description(_ id: String) -> StagedDescription {
        StagedDescription(
            stagingID: id, createdAt: "2026-01-01T00:00:00Z", size: 1, storeID: "s", hasObjects: true, objectBytes: 0,
            missing: 0, damaged: 0)
    }

    @Test func onlyTheConfirmedArchiveIsApplied() throws {
        let staging = Staging(Self.description("first"))
        // Between the confirmation and the restart, another archive is staged.
        #expect(try staging.beginDiscard("first") == nil)
        staging.end("first", nil)
        try expect("second", in: staging)
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        _ = try upload("second", to: staging)
        _ = try staging.endUpload("second", .success(Self.description("second")))
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        #expect(staging.complete?.stagingID == "second")
        try staging.beginRestart(applying: "second")
        #expect(throws: RPCError.self) { try staging.begin("third") }
    }

    private func expect(_ id: String, in staging: Staging) throws {
        #expect(try staging.begin(id) == nil)
        staging.expect(id, passphrase: nil)
    }

    private func upload(_ id: String, to staging: Staging, from offset: Int64 = 0) throws -> Staging.Intake {
        try staging.beginUpload(id, from: offset) { _ in Staging.Intake() }
    }

    /// Starts the thread that checks the first archive.
    private func reading(_ count: Int, from intake: Staging.Intake) -> TestThread {
        TestThread {
            intake.end(Result { try intake.read(count) }.map { _ in Self.description("first") })
        }
    }

    @Test func theArrivalOfAnArchiveIsNotCutOffByAReturn() throws {
        let staging = Staging(nil)
        try expect("first", in: staging)
        _ = try upload("first", to: staging)
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: nil) }
        #expect(throws: Refusal.self) { try staging.endUpload("first", .failure(Refusal())) }
        try staging.beginRestart(applying: nil)
    }

    @Test func refusedArchiveStaysRefused() throws {
        let staging = Staging(nil)
        try expect("first", in: staging)
        _ = try upload("first", to: staging)
        #expect(throws: Refusal.self) { try staging.endUpload("first", .failure(Refusal())) }
        // The client has lost its connection before the response.
        for offset: Int64 in [0, 3] {
            #expect(throws: Refusal.self) { try upload("first", to: staging, from: offset) }
        }
        #expect(staging.arriving == nil && staging.complete == nil)
        #expect(throws: RPCError.self) { try upload("second", to: staging) }
        try expect("second", in: staging)
        #expect(throws: RPCError.self) { try upload("first", to: staging) }
        _ = try upload("second", to: staging)
    }

    @Test func failedRestartLeavesEverythingAsItWas() throws {
        let staging = Staging(Self.description("first"))
        try staging.beginRestart(applying: "first")
        #expect(staging.complete == nil)
        staging.endRestart()
        #expect(staging.complete?.stagingID == "first")
        try expect("second", in: staging)
        let intake = try upload("second", to: staging)
        staging.interruptUpload("second")
        try staging.beginRestart(applying: nil)
        #expect(throws: RPCError.self) { try upload("second", to: staging) }
        staging.endRestart()
        #expect(try upload("second", to: staging) === intake)
    }

    @Test func interruptedUploadContinuesWhereItsBytesEnd() async throws {
        let staging = Staging(nil)
        try expect("first", in: staging)
        #expect(staging.arriving == ArrivingArchive(stagingID: "first", isInterrupted: true))
        #expect(
            throws: RPCError(bare: .aborted, "offset must be 0, the number of bytes of the archive that have arrived")
        ) {
            try upload("first", to: staging, from: 3)
        }
        let intake = try upload("first", to: staging)
        let thread = reading(7, from: intake)
        #expect(await intake.write([1, 2, 3]))
        #expect(staging.arriving == ArrivingArchive(stagingID: "first", receivedBytes: 3))
        // The connection is lost, and the client notices it first.
        #expect(throws: RPCError(bare: .aborted, "another call is delivering the archive: try again later")) {
            try upload("first", to: staging, from: 3)
        }
        staging.interruptUpload("first")
        #expect(staging.arriving == ArrivingArchive(stagingID: "first", receivedBytes: 3, isInterrupted: true))
        for offset: Int64 in [0, 2, 4] {
            #expect(throws: RPCError.self) { try upload("first", to: staging, from: offset) }
        }
        #expect(try upload("first", to: staging, from: 3) === intake)
        #expect(await intake.write([4, 5, 6, 7]))
        try thread.join()
        _ = try staging.endUpload("first", .success(try await intake.outcome()))
        #expect(staging.complete?.stagingID == "first" && staging.arriving == nil)
    }

    @Test(arguments: [false, true]) func archiveIsDiscardedWhileItArrives(isInterrupted: Bool) async throws {
        let staging = Staging(nil)
        try expect("first", in: staging)
        let intake = try upload("first", to: staging)
        let thread = reading(7, from: intake)
        if isInterrupted { staging.interruptUpload("first") }
        #expect(try staging.beginDiscard("first") === intake)
        await intake.cancel()
        try thread.join()
        // The call that delivered the bytes learns of it late, and changes nothing.
        staging.interruptUpload("first")
        #expect(throws: RPCError(bare: .aborted, "the archive was discarded")) {
            try staging.endUpload("first", .success(Self.description("first")))
        }
        #expect(throws: RPCError.self) { try staging.begin("second") }
        staging.end("first", nil)
        try expect("second", in: staging)
    }

    @Test func newArchiveTakesThePlaceOfAnInterruptedOne() throws {
        let staging = Staging(nil)
        try expect("first", in: staging)
        let intake = try upload("first", to: staging)
        #expect(throws: RPCError.self) { try staging.begin("second") }
        staging.interruptUpload("first")
        #expect(try staging.begin("second") === intake)
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
        _ = try staging.beginDiscard("first")
        #expect(throws: RPCError.self) { try staging.begin("second") }
        #expect(throws: RPCError.self) { try staging.beginRestart(applying: "first") }
        // The removal failed before it changed anything.
        staging.end("first", Self.description("first"))
        #expect(staging.complete?.stagingID == "first")
        _ = try staging.beginDiscard("first")
        staging.end("first", nil)
        #expect(staging.complete == nil)
        try expect("second", in: staging)
        #expect(throws: RPCError.self) { try upload("first", to: staging) }
        _ = try upload("second", to: staging)
    }
}
