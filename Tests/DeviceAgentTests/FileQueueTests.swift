import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.timeLimited) struct FileQueueTests {
    private static let settling = Duration.seconds(10)
    private let start = ContinuousClock.now

    private func observation(_ size: Int64, modified: Int64 = 1) -> FileQueue.Observation {
        FileQueue.Observation(size: size, modified: modified, inode: 7)
    }

    private func found(_ files: inout FileQueue, _ path: String, _ seen: FileQueue.Observation, at time: Duration) {
        files.found(path, seen, in: 0, relativePath: path, settling: Self.settling, at: start + time)
    }

    private func looked(
        _ files: inout FileQueue, _ path: String, _ seen: FileQueue.Observation?, at time: Duration,
        isBeingWritten: Bool = false
    ) {
        files.looked(at: path, seen, isBeingWritten: isBeingWritten, settling: Self.settling, at: start + time)
    }

    @Test func fileIsNextWhenItStayedAsItWas() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        #expect(files.nextDue(isFull: false) == start + Self.settling)
        #expect(files.dueForCheck(at: start + .seconds(9)) == [])
        #expect(files.dueForCheck(at: start + .seconds(10)) == ["a"])
        looked(&files, "a", observation(5), at: .seconds(10))
        #expect(files.next(at: start + .seconds(10)) { _ in 0 } == "a")
        #expect(files.next(at: start + .seconds(10)) { _ in 0 } == nil)
    }

    @Test func fileThatGrowsOrIsOpenBecomesUnstable() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        looked(&files, "a", observation(6), at: .seconds(10))
        #expect(files.next(at: start + .seconds(10)) { _ in 0 } == nil)
        #expect(files.nextDue(isFull: false) == start + .seconds(20))
        looked(&files, "a", observation(6), at: .seconds(20), isBeingWritten: true)
        #expect(files.next(at: start + .seconds(20)) { _ in 0 } == nil)
        looked(&files, "a", observation(6), at: .seconds(30))
        #expect(files.next(at: start + .seconds(30)) { _ in 0 } == "a")
    }

    @Test func notificationOfAKnownStateDelaysNothing() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        found(&files, "a", observation(5), at: .seconds(9))
        #expect(files.nextDue(isFull: false) == start + Self.settling)
        found(&files, "a", observation(6), at: .seconds(9))
        #expect(files.nextDue(isFull: false) == start + .seconds(19))
    }

    @Test func refusedFileIsNotTriedAgainUntilItChanges() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        looked(&files, "a", observation(5), at: .seconds(10))
        #expect(files.next(at: start + .seconds(10)) { _ in 0 } == "a")
        files.refuse("a", "no")
        #expect(files.count == 0 && files.nextDue(isFull: false) == nil)
        #expect(files.refused["a"]?.message == "no")
        // The directories are read again.
        found(&files, "a", observation(5), at: .seconds(600))
        #expect(files.count == 0 && files.refused.count == 1)
        found(&files, "a", observation(6), at: .seconds(700))
        #expect(files.files["a"]?.due == start + .seconds(710) && files.refused.isEmpty)
        files.refuse("a", "no")
        files.remove("a")
        #expect(files.refused.isEmpty)
    }

    @Test func removedFileIsForgotten() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        looked(&files, "a", nil, at: .seconds(10))
        #expect(files.count == 0)
    }

    @Test func priorityThenAgeDecides() {
        var files = FileQueue()
        for (path, directory, modified) in [("new", 0, 9), ("old", 0, 3), ("urgent", 1, 20)] as [(String, Int, Int64)] {
            let seen = observation(1, modified: modified)
            files.found(path, seen, in: directory, relativePath: path, settling: .zero, at: start)
            files.looked(at: path, seen, isBeingWritten: false, settling: .zero, at: start)
        }
        let order = (0..<3).map { _ in files.next(at: start) { $0 == 1 ? 5 : 0 } }
        #expect(order == ["urgent", "old", "new"])
    }

    @Test func failuresWaitLongerEachTime() {
        var files = FileQueue()
        found(&files, "a", observation(5), at: .zero)
        looked(&files, "a", observation(5), at: .zero)
        var waits: [Duration] = []
        for _ in 0..<9 {
            files.failed("a", "no", at: start)
            waits.append((files.nextDue(isFull: false) ?? start) - start)
        }
        #expect(waits == [5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
        // A file that waits for a free slot causes no wake-up.
        #expect(files.nextDue(isFull: true) == nil)
    }

    @Test func moreFilesThanCanBeKnownAreCountedLater() {
        var files = FileQueue()
        for number in 0...FileQueue.most { found(&files, "\(number)", observation(1), at: .zero) }
        #expect(files.count == FileQueue.most)
        #expect(files.hasMore)
    }
}
