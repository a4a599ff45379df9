import Accounts
import Basics
import Database
import Foundation
import Proto
import RPC
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore

@Suite(.timeLimited) struct ScrubberTests {
    let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    /// The reports about objects, in order.
    private final class Reports: Sendable {
        let lines = Lock<[String]>([])
    }

    private let reports = Reports()

    /// - Parameter sleep: called before each piece; `nil` = no waiting.
    private func scrubber(
        _ configuration: CatalogConfiguration = CatalogConfiguration(),
        _ sleep: (@Sendable (Duration) async throws -> Void)? = nil
    ) -> Scrubber {
        let log = Logger { [reports] line in reports.lines.withLock { $0.append(line) } }
        return Scrubber(
            database: scene.database, store: scene.store, clock: scene.clock, configuration: configuration,
            log: log, sleep: sleep ?? { _ in })
    }

    /// Replaces a file's bytes but not its length, as a faulty disk would.
    private func spoil(_ object: CatalogObject, with bytes: [UInt8]) throws {
        let path = scene.path(object.fileID)
        try FileManager.default.removeItem(atPath: path)
        try Data(bytes).write(to: URL(filePath: path))
    }

    private func bad(as organization: Int64 = 1) async throws -> [String] {
        try await scene.management.listBadObjects(
            ListBadObjectsRequest(),
            context: CallContext(
                method: ObjectManagementServiceMethods.listBadObjects,
                identity: Principal.user(scene.user(organization)))
        ).objects.map { "\($0.fileID) \($0.status)" }
    }

    @Test(.onDirectory) func missingCRC32OfAnIntactObjectIsRecorded() async throws {
        let (intact, spoilt) = (try scene.add(bytes: [1, 2, 3]), try scene.add(bytes: [4, 5]))
        try spoil(spoilt, with: [4, 6])
        try await scrubber().pass()
        let recorded = try await scene.database.read { connection in
            try StoredFile.crc32s(of: [intact.fileID, spoilt.fileID], in: connection)
        }
        #expect(recorded == [intact.fileID: 0x55BC_801D])
    }

    @Test(.onDirectory) func changedObjectIsCorruptedUntilItIsRestored() async throws {
        let long = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let (first, second) = (try scene.add(bytes: long), try scene.add(bytes: [4, 5]))
        try await scrubber().pass()
        #expect(try await bad().isEmpty)

        var spoilt = long
        spoilt[2_500_000] ^= 1
        try spoil(first, with: spoilt)
        scene.clock.advance(seconds: 86_400)
        let scrubber = scrubber()
        try await scrubber.pass()
        #expect(try await bad() == ["\(first.fileID) bad"])
        #expect(try await bad(as: 2).isEmpty)
        #expect(try await scene.sizes() == [2])
        await #expect(throws: RPCError.self) { try await scene.download([first.fileID]) }
        #expect(scrubber.metrics.snapshot == .init(bytes: 3_000_002, objects: 2, passes: 1, bad: 1))

        try spoil(first, with: long)
        scene.clock.advance(seconds: 86_400)
        try await self.scrubber().pass()
        #expect(try await bad().isEmpty)
        #expect(try await scene.sizes() == [2, 3_000_000])
        #expect(
            reports.lines.withLock { $0 } == [
                "error   object is corrupted file_id=\(first.fileID) why=\"its bytes do not match its checksum\"",
                "info    object is intact again file_id=\(first.fileID) why=\"\"",
            ])
        #expect(
            try scene.audit() == [
                "gateway organization-1 MarkBad objects/\(first.fileID) 1",
                "gateway organization-1 MarkVerified objects/\(first.fileID) 1",
            ])
        #expect(try await scene.download([second.fileID]).files.count == 1)
    }

    @Test(.onDirectory) func missingAndShortFilesAreCorrupted() async throws {
        let (missing, short) = (try scene.add(bytes: [1]), try scene.add(bytes: [2, 3]))
        try FileManager.default.removeItem(atPath: scene.path(missing.fileID))
        try spoil(short, with: [2])
        try await scrubber().pass()
        #expect(
            reports.lines.withLock { $0 } == [
                "error   object is corrupted file_id=\(missing.fileID) why=\"its file is missing\"",
                "error   object is corrupted file_id=\(short.fileID) why=\"its file has a different size\"",
            ])
        // Corrupted objects can be deleted.
        _ = try await scene.management.deleteObject(
            DeleteObjectRequest(fileID: missing.fileID),
            context: CallContext(
                method: ObjectManagementServiceMethods.deleteObject, identity: Principal.user(scene.user())))
        #expect(try await bad() == ["\(short.fileID) bad"])
    }

    @Test func aPassGoesOnWhereItWasInterrupted() async throws {
        for byte in 1...5 { try scene.add(bytes: [UInt8(byte)]) }
        let pieces = Lock(0)
        let first = scrubber { _ in
            let count = pieces.withLock { pieces in
                pieces += 1
                return pieces
            }
            if count == 4 { throw CancellationError() }
        }
        await #expect(throws: CancellationError.self) { try await first.pass() }
        #expect(first.metrics.snapshot.objects == 3)
        let second = scrubber()
        try await second.pass()
        #expect(second.metrics.snapshot.objects == 2)
        // The next pass is not due yet.
        try await second.pass()
        #expect(second.metrics.snapshot.passes == 1)
        scene.clock.advance(seconds: 86_400)
        try await second.pass()
        #expect(second.metrics.snapshot.objects == 7 && second.metrics.snapshot.passes == 2)
    }

    @Test(arguments: [(interval: 5, pause: 5), (interval: 86_400, pause: 60)])
    func passesAreNotFurtherApartThanTheirInterval(interval: Int, pause: Int) async throws {
        let configuration = CatalogConfiguration()
        configuration.scrubInterval.value = .seconds(interval)
        let pauses = Lock<[Duration]>([])
        let scrubber = scrubber(configuration) { [clock = scene.clock] wait in
            clock.advance(seconds: Int64(wait / .seconds(1)))
            let count = pauses.withLock { pauses in
                pauses.append(wait)
                return pauses.count
            }
            if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await scrubber.run()
        #expect(pauses.withLock { $0 } == [.seconds(pause), .seconds(pause)])
        #expect(scrubber.metrics.snapshot.passes == (pause < interval ? 1 : 2))
    }

    @Test func piecesComeAtTheRate() async throws {
        try scene.add(bytes: Array(repeating: 0, count: (2 << 20) + (1 << 19)))
        let waits = Lock<[Duration]>([])
        try await scrubber { wait in waits.withLock { $0.append(wait) } }.pass()
        let milliseconds = waits.withLock { $0.map { $0 / .milliseconds(1) } }
        // 8 MiB a second, in pieces of 1 MiB.
        #expect(milliseconds == [125, 125, 62.5])
    }
}
