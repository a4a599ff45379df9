import HTTPClient
import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import DeviceAgent
@testable import DeviceClient

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

    /// A token is requested for a call: the log names the call that failed.
    @Test func retryNamesTheCallThatFailed() {
        let failure = CallFailure(
            status: GRPCStatus(.unavailable, "connection refused"), method: AuthServiceMethods.exchangeCredential,
            server: PeerAddress(host: "127.0.0.1", port: 50051))
        #expect(
            AgentFailure.retry("GetUploadRecovery", failure, .seconds(4))
                == """
                ExchangeCredential at 127.0.0.1:50051 failed: connection refused (UNAVAILABLE); trying again in 4 s
                """)
        #expect(
            AgentFailure.retry("part 3", TransferFailure.connection("timed out"), .milliseconds(500))
                == "part 3 failed: the object store is not available: timed out; trying again in less than a second")
    }
}
