import Basics
import CommonProto
import Database
import FileTesting
import GatewayProto
import GatewayTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import Catalog
@testable import DirectoryEngine
@testable import ObjectStore

@Suite(.timeLimited) struct RecordingIndexTests {
    /// A recorder that lost its power while it wrote a chunk.
    private static let cut: [UInt8] = {
        let messages = MCAPFile.message(at: 1_700_000_000_000_000_000) + MCAPFile.message(at: 1_700_000_009_000_000_000)
        let chunk = MCAPFile.chunk(MCAPFile.channel("/imu") + messages + MCAPFile.message(at: .max), 0, .max)
        return Array((MCAPFile.magic + MCAPFile.header + chunk).dropLast())
    }()

    /// Adds a recording that has to be read.
    private func add(_ bytes: [UInt8], to scene: CatalogScene) throws {
        let object = try scene.add(bytes: bytes)
        try scene.database.writeBlocking { connection in
            let position = try connection.first(
                "SELECT position FROM objects WHERE file_id = $1", object.fileID
            ) { $0.int64("position") }
            try RecordingRecords(connection).enqueue(position: try #require(position), organizationID: 1)
        }
    }

    private func index(of scene: CatalogScene) -> RecordingIndex {
        RecordingIndex(database: scene.database, store: scene.store, signal: Signal(), log: .discarding)
    }

    @Test func recordingThatWasNotClosedIsFoundByTimeAndTopic() async throws {
        let scene = try CatalogScene()
        try add(Self.cut, to: scene)
        #expect(try await index(of: scene).readNext())
        let found = try await scene.list("topic=/imu recorded_from>=2023-11-14 recorded_to<2023-11-15").objects
        #expect(found.count == 1)
        #expect(found.first?.recordedFrom?.seconds == 1_700_000_000)
        #expect(found.first?.recordedTo?.seconds == 1_700_000_009)
        #expect(try await index(of: scene).readNext() == false)
    }

    /// The gateway that has the lease reads the recordings of all gateways, whose commits notify no signal here.
    @Test func recordingOfAnotherGatewayIsRead() async throws {
        let scene = try CatalogScene(isShared: true)
        let index = index(of: scene)
        let task = Task { await index.run() }
        // It has found nothing, and waits.
        await scene.databaseCalls.next(2)
        try add(Self.cut, to: scene)
        while try await scene.list("topic=/imu").objects.isEmpty { await Task.yield() }
        task.cancel()
        await task.value
    }

    /// Cancels its task when the first bytes are read.
    private final class Interruption: Sendable {
        private let task = Lock<Task<Bool, any Error>?>(nil)

        func start(_ index: RecordingIndex) -> Task<Bool, any Error> {
            task.withLock { task in
                let started = Task { try await index.readNext() }
                task = started
                return started
            }
        }

        func interrupt() { task.withLock { $0?.cancel() } }
    }

    @Test(.onDirectory) func recordingThatWasBeingReadIsReadAgain() async throws {
        let interruption = Interruption()
        var calls = FileCalls()
        calls.read = { descriptor, buffer, count, offset in
            interruption.interrupt()
            return FileCalls().read(descriptor, buffer, count, offset)
        }
        let scene = try CatalogScene(calls: calls)
        // Its end is in another window than its beginning.
        let message = MCAPFile.message(at: 1, data: [UInt8](repeating: 0, count: 100_000))
        try add(MCAPFile.file(MCAPFile.channel("/imu") + message, []), to: scene)
        let index = index(of: scene)
        await #expect(throws: CancellationError.self) { try await interruption.start(index).value }
        #expect(try await index.readNext())
        #expect(try await scene.list("topic=/imu").objects.count == 1)
    }
}
