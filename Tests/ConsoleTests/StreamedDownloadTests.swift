import HTTPTypes
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimited) struct StreamedDownloadTests {
    /// A body in several pieces.
    private final class Pieces: HTTPBodySource, @unchecked Sendable {  // used by one test
        private(set) var isClosed = false

        let hasFiles = false

        func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) -> HTTPBodyPiece? { .buffered(0) }

        func fileFailed() {}

        func close() { isClosed = true }
    }

    private func text(_ response: HTTPResponse) -> String? {
        guard case .bytes(let bytes) = response.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func archiveOfTheGatewayIsPassedOnUnderItsName() throws {
        let pieces = Pieces()
        let received = HTTPResponse(
            status: 200, fields: ["content-type": "application/octet-stream"], body: .stream(pieces, length: nil))
        let response = StreamedDownload.response(received, named: "one.backup", type: "application/octet-stream")
        #expect(response.status == 200)
        #expect(response.fields["content-disposition"] == #"attachment; filename="one.backup""#)
        #expect(response.fields["cache-control"] == "no-store")
        guard case .stream(let stream, _) = response.body else { throw CancellationError() }
        #expect(stream as? Pieces === pieces && !pieces.isClosed)
    }

    @Test func refusalOfTheGatewayIsToldInItsWords() {
        let json = #"{"error":{"code":400,"message":"another backup is running","status":"FAILED_PRECONDITION"}}"#
        let response = StreamedDownload.response(
            HTTPResponse(status: 400, body: .bytes(Array(json.utf8))), named: "one.backup",
            type: "application/octet-stream")
        #expect(response.status == 409 && text(response) == "another backup is running\n")
        let broken = StreamedDownload.response(
            HTTPResponse(status: 400), named: "one.backup", type: "application/octet-stream")
        #expect(broken.status == 409 && text(broken) == "the gateway sent no file\n")
        let pieces = Pieces()
        _ = StreamedDownload.response(
            HTTPResponse(status: 503, body: .stream(pieces, length: nil)), named: "one.backup",
            type: "application/octet-stream")
        #expect(pieces.isClosed)
    }
}
