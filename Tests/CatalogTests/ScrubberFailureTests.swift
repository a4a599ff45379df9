import Basics
import Database
import Glibc
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import Catalog
@testable import DirectoryEngine
@testable import ObjectStore

/// The behavior of the scrubber if an object cannot be read.
@Suite(.timeLimited, .onDirectory) struct ScrubberFailureTests {
    /// Fails reads of files of given sizes, by which tests identify files.
    private final class Disk: Sendable {
        let errors = Lock<[Int64: Int32]>([:])

        var calls: FileCalls {
            var calls = FileCalls()
            calls.read = { [self] descriptor, buffer, count, offset in
                var status = stat()
                fstat(descriptor, &status)
                guard let error = errors.withLock({ $0[Int64(status.st_size)] }) else {
                    return pread(descriptor, buffer, count, offset)
                }
                errno = error
                return -1
            }
            return calls
        }
    }

    private final class Lines: Sendable {
        let texts = Lock<[String]>([])
    }

    private let disk = Disk()
    private let lines = Lines()
    private let scene: CatalogScene

    init() throws {
        scene = try CatalogScene(calls: disk.calls)
    }

    private func scrubber() -> Scrubber {
        let log = Logger { [lines] line in lines.texts.withLock { $0.append(line) } }
        return Scrubber(
            database: scene.database, store: scene.store, clock: scene.clock, configuration: CatalogConfiguration(),
            log: log, sleep: { _ in })
    }

    private func position() throws -> Int64? {
        try scene.database.readBlocking { try ScrubRecords($0).state()?.position }
    }

    @Test(arguments: [EIO, ENODATA, EILSEQ, EUCLEAN, EBADMSG])
    func unreadableObjectIsMarkedBadAndThePassGoesOn(error: Int32) async throws {
        let objects = try (1...3).map { try scene.add(bytes: [UInt8](repeating: 1, count: $0)) }
        disk.errors.withLock { $0[2] = error }
        let scrubber = scrubber()
        try await scrubber.pass()
        #expect(scrubber.metrics.snapshot == .init(bytes: 6, objects: 3, passes: 1, bad: 1))
        let reason = "the disk cannot read it (\(String(cString: strerror(error))))"
        let line = "error   object is corrupted file_id=\(objects[1].fileID) why=\"\(reason)\""
        #expect(lines.texts.withLock { $0 } == [line])
    }

    @Test func objectThatFailsOtherwiseIsPassedOver() async throws {
        let objects = try (1...3).map { try scene.add(bytes: [UInt8](repeating: 1, count: $0)) }
        disk.errors.withLock { $0[1] = EINVAL }
        let scrubber = scrubber()
        try await scrubber.pass()
        #expect(scrubber.metrics.snapshot == .init(bytes: 6, objects: 2, passes: 1, failures: 1, bad: 0))
        let message = "the object \(objects[0].fileID) was skipped: Invalid argument"
        #expect(lines.texts.withLock { $0 } == ["error   the scrubber failed error=\"\(message)\""])
    }

    @Test func manyFailuresInARowPauseThePassBehindThem() async throws {
        for size in 1...12 { try scene.add(bytes: [UInt8](repeating: 1, count: size)) }
        disk.errors.withLock { errors in for size in 1...12 { errors[Int64(size)] = EINVAL } }
        let scrubber = scrubber()
        await #expect(throws: ScrubFailure.self) { try await scrubber.pass() }
        #expect(scrubber.metrics.snapshot.failures == 9)
        #expect(try position().map { $0 > 0 } == true)
        disk.errors.withLock { $0 = [:] }
        try await scrubber.pass()
        #expect(scrubber.metrics.snapshot.objects == 2 && scrubber.metrics.snapshot.passes == 1)
    }
}
