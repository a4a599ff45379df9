import Basics
import TestSupport
import Testing

@testable import DeviceAgent

/// The reasons that `agent status` gives for pending files.
@Suite(.timeLimited) struct WaitingFilesTests {
    private let start = ContinuousClock.now
    private let wallStart = UnixTime(seconds: 1000)
    private var files = FileQueue()

    private mutating func find(_ path: String) {
        files.found(path, observation, in: 0, relativePath: path, settling: .seconds(10), at: start)
    }

    private mutating func look(at path: String, isBeingWritten: Bool = false) {
        files.looked(
            at: path, observation, isBeingWritten: isBeingWritten, settling: .seconds(10), at: start + .seconds(10))
    }

    private let observation = FileQueue.Observation(size: 5, modified: 1, inode: 7)

    private func waiting(
        isPaused: Bool = false, after seconds: Int64 = 10, limit: Int = 10
    ) -> [AgentStatus.Waiting] {
        files.waiting(
            at: start + .seconds(seconds), wallStart.adding(seconds: seconds), isPaused: isPaused, limit: limit)
    }

    @Test mutating func eachPendingFileHasItsReason() {
        for path in ["failed", "open", "ready", "uploading"] {
            find(path)
            look(at: path, isBeingWritten: path == "open")
        }
        find("settling")
        for expected in ["failed", "ready", "uploading"] {
            #expect(files.next(at: start + .seconds(10)) { _ in 0 } == expected)
        }
        files.stopped("ready")
        files.failed("failed", "the disk is full", at: start + .seconds(10))
        #expect(
            waiting(after: 8) == [
                .init(file: "failed", reason: .retry, until: 1015, message: "the disk is full"),
                .init(file: "open", reason: .open), .init(file: "ready", reason: .turn),
                .init(file: "settling", reason: .settling, until: 1010),
            ])
        #expect(waiting(isPaused: true)[2].reason == .paused)
        #expect(waiting(limit: 1).map(\.file) == ["failed"])
    }

    @Test mutating func fileThatWasClosedSettles() {
        find("a")
        look(at: "a", isBeingWritten: true)
        files.found(
            "a", .init(size: 6, modified: 2, inode: 7), in: 0, relativePath: "a", settling: .seconds(10),
            at: start + .seconds(12))
        #expect(waiting(after: 12) == [.init(file: "a", reason: .settling, until: 1022)])
    }
}
