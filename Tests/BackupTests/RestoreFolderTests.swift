import Basics
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Backup

/// The folder for restores in a data directory.
@Suite(.timeLimited) struct RestoreFolderTests {
    let scratch = Scratch()

    /// Counts the lines of a log.
    private final class LineCount: LogDestination {
        let count = Lock(0)

        func keeps(_ level: LogLevel) -> Bool { true }

        func write(_ level: LogLevel, _ event: String, _ fields: (inout LogLine) -> Void) {
            count.withLock { $0 += 1 }
        }
    }

    @Test func deletedDataAreRemovedByTwoThreadsAtOnce() async throws {
        let files = (0..<200).map { "\($0)" }
        for number in 0..<20 { _ = try scratch.folder("restore/deleted-previous-1/\(number)", files: files) }
        _ = try scratch.folder("restore/deleted-previous-2", files: ["a"])
        let (folder, lines) = (RestoreFolder(directory: scratch.path), LineCount())
        await withTaskGroup { group in
            for _ in 0..<2 { group.addTask { folder.removeDeleted(Logger(lines)) } }
        }
        #expect(lines.count.withLock { $0 } == 0)
        #expect(try FolderListing.names(in: folder.path).isEmpty)
    }

    @Test func aFailedRemovalOfDeletedDataIsLogged() throws {
        let lines = LineCount()
        RestoreFolder(directory: scratch.path).removeDeleted(Logger(lines))
        #expect(lines.count.withLock { $0 } == 1)
    }
}
