import HTTPTypes
import Proto
import RPC
import TestSupport
import Testing
import ThreadCalls

@testable import Console

@Suite(.timeLimited) struct BackupDownloadTests {
    /// The response to a Backup call.
    private final class Messages: LocalMessages {
        private var messages: [[UInt8]]
        private let failure: RPCError?

        init(_ messages: [[UInt8]], failure: RPCError? = nil) {
            self.messages = messages
            self.failure = failure
        }

        func next() throws(RPCError) -> [UInt8]? {
            if !messages.isEmpty { return messages.removeFirst() }
            if let failure { throw failure }
            return nil
        }

        func close() {}
    }

    private func chunk(_ bytes: [UInt8]) -> [UInt8] { BackupChunk(data: bytes).encoded() }

    private let summary = BackupChunk(summary: BackupSummary(objects: 1)).encoded()

    private func response(_ messages: [UInt8]..., failure: RPCError? = nil) -> HTTPResponse {
        BackupDownload.response(to: Messages(messages, failure: failure), named: "one.backup")
    }

    /// Returns the bytes that a browser receives; `nil` if the download was aborted.
    private func downloaded(_ response: HTTPResponse) -> [UInt8]? {
        guard case .stream(let stream) = response.body else { return nil }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1000)
        while let count = piece.withUnsafeMutableBytes({ stream.read(into: $0) }) {
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }

    @Test func theArchiveIsWhatTheMessagesHold() {
        let large = [UInt8](repeating: 7, count: 200_000)
        let response = response(chunk([1, 2, 3]), chunk(large), summary)
        #expect(response.status == 200)
        #expect(response.fields["content-disposition"] == #"attachment; filename="one.backup""#)
        #expect(downloaded(response) == [1, 2, 3] + large)
    }

    @Test func oneThatIsNotWholeBreaksOff() {
        let failure = RPCError(bare: .internalError, "a disk")
        #expect(downloaded(response(chunk([1]), failure: failure)) == nil)
        #expect(downloaded(response(chunk([1]))) == nil)
        #expect(downloaded(response(chunk([1]), [0xFF])) == nil)
        #expect(downloaded(response(chunk([1]), summary, failure: failure)) == nil)
    }

    @Test func oneThatIsRefusedSaysWhy() {
        let refused = response(failure: RPCError(bare: .failedPrecondition, "another backup is running"))
        #expect(refused.status == 409)
        guard case .bytes(let text) = refused.body else {
            Issue.record("not a text")
            return
        }
        #expect(text == Array("another backup is running\n".utf8))
    }
}
