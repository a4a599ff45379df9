import GRPCWire
import TestSupport
import Testing

@testable import RPC

@Suite(.timeLimited) final class CallStageTests {
    private let loop = StillLoop()
    private let lane: Lane

    init() {
        lane = loop.turns.gateway
    }

    deinit {
        loop.stop()
    }

    private func queued() -> CallStage {
        var stage = CallStage()
        let counts = stage.queue(in: lane)
        #expect(counts)
        return stage
    }

    @Test func requestThatIsCompleteFirstWaitsForItsAdmission() {
        var stage = queued()
        let isQueuedAgain = stage.becomeReady()
        #expect(!isQueuedAgain && stage.isReady && !stage.beginsNow)
        stage.takeTurn()
        stage.admit()
        #expect(stage.beginsNow && stage.isAdmitted)
    }

    @Test func requestThatIsCompleteLaterIsQueuedOnceMore() {
        var stage = queued()
        stage.takeTurn()
        stage.admit()
        #expect(stage.isAdmitted && !stage.beginsNow)
        _ = stage.leaveTurn()
        let isQueuedAgain = stage.becomeReady()
        #expect(isQueuedAgain)
        let counts = stage.queue(in: lane)
        #expect(counts && stage.beginsNow)
    }

    @Test func callThatChangesItsLaneCountsOnce() {
        var stage = queued()
        stage.takeTurn()
        let counts = stage.queue(in: lane)
        #expect(!counts)
    }

    @Test func refusedCallEndsInItsNextTurn() {
        var stage = queued()
        stage.takeTurn()
        stage.admit()
        _ = stage.becomeReady()
        stage.refuse(RPCError(bare: .unavailable, "no place"))
        #expect(stage.refusal?.message == "no place" && !stage.isRunning && stage.isOpen)
        _ = stage.queue(in: lane)
        stage.takeTurn()
        _ = stage.end()
        #expect(!stage.isOpen && stage.refusal == nil)
    }

    @Test func endedCallIsNeitherAdmittedNorQueued() {
        var stage = queued()
        _ = stage.end()
        stage.takeTurn()
        stage.admit()
        let isQueuedAgain = stage.becomeReady()
        #expect(!isQueuedAgain && !stage.isAdmitted && !stage.isUnknown && !stage.isOpen)
    }

    @Test func impossibleInputsTrap() async {
        await #expect(processExitsWith: .failure) {
            var stage = CallStageTests().queued()
            _ = stage.queue(in: StillLoop().turns.gateway)
        }
        await #expect(processExitsWith: .failure) {
            var stage = CallStage()
            stage.takeTurn()
        }
    }
}
