import Foundation
import HTTPTypes
import Proto
import Testing
import Wire

@testable import Console

@Suite struct BackupDownloadTests {
    private func frame(_ flag: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount) + payload
        MessagePrefix.write(to: &frame)
        frame[0] = flag
        return frame
    }

    private func chunk(_ bytes: [UInt8]) -> [UInt8] { frame(0, BackupChunk(data: bytes).encoded()) }

    private var summary: [UInt8] { frame(0, BackupChunk(summary: BackupSummary(objects: 1)).encoded()) }

    private func response(_ frames: [UInt8]...) -> HTTPResponse {
        BackupDownload.response(
            to: HTTPResponse(status: 200, body: .bytes(frames.flatMap(\.self))), named: "one.backup")
    }

    /// What a browser gets; `nil` where it sees the download break off.
    private func downloaded(_ response: HTTPResponse) -> [UInt8]? {
        guard case .stream(let stream) = response.body else { return nil }
        var source = ByteSource(stream)
        return source.readToEnd(limit: 1 << 20)
    }

    @Test func theArchiveIsWhatTheMessagesHold() {
        let large = [UInt8](repeating: 7, count: 200_000)
        let response = response(chunk([1, 2, 3]), chunk(large), summary, frame(2, Array("{}".utf8)))
        #expect(response.status == 200)
        #expect(response.fields["content-disposition"] == #"attachment; filename="one.backup""#)
        #expect(downloaded(response) == [1, 2, 3] + large)
    }

    @Test func oneThatIsNotWholeBreaksOff() {
        let failed = frame(2, Array(#"{"error":{"code":"internal","message":"a disk"}}"#.utf8))
        #expect(downloaded(response(chunk([1]), failed)) == nil)
        #expect(downloaded(response(chunk([1]), frame(2, Array("{}".utf8)))) == nil)
        #expect(downloaded(response(chunk([1]))) == nil)
        #expect(downloaded(response(chunk([1]), Array(chunk([2]).dropLast()))) == nil)
        #expect(downloaded(response(chunk([1]), [0, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
    }

    @Test func oneThatIsRefusedSaysWhy() {
        let refused = response(frame(2, Array(#"{"error":{"message":"another backup is running"}}"#.utf8)))
        #expect(refused.status == 409)
        guard case .bytes(let text) = refused.body else {
            Issue.record("not a text")
            return
        }
        #expect(text == Array("another backup is running\n".utf8))
    }
}
