import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.timeLimited) struct AgentFailureTests {
    private struct Described: Error, CustomStringConvertible {
        let description = "the disk is full"
    }

    private struct Plain: Error {
        let code = 7
    }

    @Test func failureIsTold() {
        #expect(AgentFailure.text(Described()) == "the disk is full")
        #expect(AgentFailure.text(Plain()) == "the upload failed: Plain")
    }
}
