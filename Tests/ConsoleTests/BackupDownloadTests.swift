import HTTPTypes
import TestSupport
import Testing

@testable import Console

@Suite(.timeLimited) struct BackupDownloadTests {
    /// A body that comes in pieces.
    private final class Pieces: HTTPBodySource, @unchecked Sendable {  // used by one test
        private(set) var isClosed = false

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? { 0 }

        func close() { isClosed = true }
    }

    private func text(_ response: HTTPResponse) -> String? {
        guard case .bytes(let bytes) = response.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func archiveOfTheGatewayIsPassedOnUnderItsName() throws {
        let pieces = Pieces()
        let answer = HTTPResponse(
            status: 200, fields: ["content-type": "application/octet-stream"], body: .stream(pieces))
        let response = BackupDownload.response(answer, named: "one.backup")
        #expect(response.status == 200)
        #expect(response.fields["content-disposition"] == #"attachment; filename="one.backup""#)
        #expect(response.fields["cache-control"] == "no-store")
        guard case .stream(let stream) = response.body else { throw CancellationError() }
        #expect(stream as? Pieces === pieces && !pieces.isClosed)
    }

    @Test func refusalOfTheGatewayIsToldInItsWords() {
        let json = #"{"error":{"code":400,"message":"another backup is running","status":"FAILED_PRECONDITION"}}"#
        let response = BackupDownload.response(
            HTTPResponse(status: 400, body: .bytes(Array(json.utf8))), named: "one.backup")
        #expect(response.status == 409 && text(response) == "another backup is running\n")
        let broken = BackupDownload.response(HTTPResponse(status: 400), named: "one.backup")
        #expect(broken.status == 409 && text(broken) == "the gateway sent no backup\n")
        let pieces = Pieces()
        _ = BackupDownload.response(HTTPResponse(status: 503, body: .stream(pieces)), named: "one.backup")
        #expect(pieces.isClosed)
    }
}
