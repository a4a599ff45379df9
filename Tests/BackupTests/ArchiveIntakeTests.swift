import Basics
import Foundation
import RPC
import TestSupport
import Testing

@testable import Backup

/// The bytes of an archive on their way from a call to the thread that checks them.
@Suite(.timeLimited) struct ArchiveIntakeTests {
    /// Reads the whole intake on a thread, in pieces of that size.
    private func reading(_ intake: ArchiveIntake<[UInt8]>, by size: Int) {
        _ = TestThread {
            intake.end(
                Result {
                    var all: [UInt8] = []
                    while true {
                        let piece = try intake.read(size)
                        all += piece
                        if piece.count < size { return all }
                    }
                })
        }
    }

    @Test(arguments: [1, 7, 100, 5000]) func everyByteArrivesInOrder(size: Int) async throws {
        let intake = ArchiveIntake<[UInt8]>()
        reading(intake, by: size)
        let pieces = (0..<50).map { number in [UInt8](repeating: UInt8(number), count: number) }
        for piece in pieces where !piece.isEmpty { #expect(await intake.write(piece)) }
        intake.finish()
        #expect(try await intake.outcome() == pieces.flatMap(\.self))
    }

    @Test func aCancellationEndsTheThreadAndEverybodyWhoWaits() async throws {
        let intake = ArchiveIntake<[UInt8]>()
        reading(intake, by: 100)
        #expect(await intake.write([1, 2, 3]))
        #expect(intake.received == 3)
        await withTaskGroup { group in
            for _ in 0..<3 { group.addTask { await intake.cancel() } }
        }
        await #expect(throws: RPCError.self) { try await intake.outcome() }
        // A thread that reads on does not wait for bytes that nobody sends.
        #expect(throws: RPCError.self) { try intake.read(1) }
        #expect(await !intake.write([4]))
        #expect(intake.received == 3)
    }

    @Test func aThreadThatEndsEarlyRefusesFurtherBytes() async throws {
        let intake = ArchiveIntake<[UInt8]>()
        _ = TestThread { intake.end(Result { try intake.read(2) + [9] }) }
        _ = await intake.write([1, 2, 3])
        #expect(try await intake.outcome() == [1, 2, 9])
        #expect(await !intake.write([4]))
    }

    @Test func theFirstBytesCanBeReadTwice() throws {
        let scratch = Scratch()
        let data = (0..<200).map { UInt8($0) }
        try Data(data).write(to: URL(filePath: scratch.path + "/file"))
        for first in [0, 1, 21, 64] {
            let replay = ArchiveReplay(try FileSource(path: scratch.path + "/file"))
            #expect(try replay.read(first) == Array(data[..<first]))
            replay.rewind()
            #expect(try replay.read(10) + replay.read(500) == data)
        }
    }
}
