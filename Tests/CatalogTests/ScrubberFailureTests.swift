import Database
import Glibc
import Synchronization
import Testing

@testable import Catalog
@testable import ObjectStore

/// How the scrubber goes on where an object cannot be read.
struct ScrubberFailureTests {
    /// Fails the reads of a file of so many bytes, which is what tests tell files by.
    private final class Disk: Sendable {
        let errors = Mutex<[Int64: Int32]>([:])

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

    private final class Log: Sendable {
        let scrubbed = Mutex<[String]>([])
        let failures = Mutex<[String]>([])
    }

    private let disk = Disk()
    private let log = Log()
    private let scene: CatalogScene

    init() throws {
        scene = try CatalogScene(calls: disk.calls)
    }

    private func scrubber() -> Scrubber {
        var configuration = CatalogConfiguration()
        configuration.onScrubbed = { [log] fileID, trouble in
            log.scrubbed.withLock { $0.append("\(fileID): \(trouble ?? "right")") }
        }
        configuration.onScrubFailure = { [log] error in log.failures.withLock { $0.append("\(error)") } }
        return Scrubber(
            database: scene.database, store: scene.store, clock: scene.clock, configuration: configuration,
            sleep: { _ in })
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
        #expect(log.scrubbed.withLock { $0 } == ["\(objects[1].fileID): \(reason)"])
        #expect(log.failures.withLock { $0 }.isEmpty)
    }

    @Test func objectThatFailsOtherwiseIsPassedOver() async throws {
        let objects = try (1...3).map { try scene.add(bytes: [UInt8](repeating: 1, count: $0)) }
        disk.errors.withLock { $0[1] = EINVAL }
        let scrubber = scrubber()
        try await scrubber.pass()
        #expect(scrubber.metrics.snapshot == .init(bytes: 6, objects: 2, passes: 1, failures: 1, bad: 0))
        let message = "the object \(objects[0].fileID) was skipped: Invalid argument"
        #expect(log.failures.withLock { $0 } == [message])
        #expect(log.scrubbed.withLock { $0 }.isEmpty)
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
