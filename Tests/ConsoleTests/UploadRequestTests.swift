import HTTPTypes
import TestSupport
import Testing

@testable import Console

/// The requests with which pages send the bytes of an upload.
@Suite(.timeLimited) struct UploadRequestTests {
    private func request(_ method: String, _ target: String) -> UploadRequest? {
        let head = HTTPRequestHead(
            method: method, target: "/console/\(target)", fields: [:], framing: .length(0),
            origin: HTTPRequestOrigin(peer: "127.0.0.1"))
        return UploadRequest(target.prefix { $0 != "?" }, head)
    }

    @Test func resourcesStandForOperationsOfTheStore() throws {
        #expect(try #require(request("PUT", "uploads/a-1")).query.isEmpty)
        #expect(try #require(request("POST", "uploads/a-1/parts")).query.map(\.name) == ["uploads"])
        let part = try #require(request("PUT", "uploads/a-1/parts/12?multipart=0AF"))
        #expect(part.query.map(\.value) == ["12", "0AF"])
        #expect((part.uploadID, part.completesAll) == ("a-1", false))
        let whole = try #require(request("POST", "uploads/a-1/complete?multipart=0AF"))
        #expect(whole.query.map(\.name) == ["uploadId"])
        #expect(whole.completesAll)
    }

    @Test(arguments: [
        ("GET", "uploads/a"), ("PUT", "uploads/"), ("PUT", "uploads/a/b"), ("PUT", "uploads/a?multipart=b"),
        ("POST", "uploads/a/parts?multipart=b"), ("PUT", "uploads/a/parts/0?multipart=b"),
        ("PUT", "uploads/a/parts/10001?multipart=b"), ("PUT", "uploads/a/parts/1"),
        ("PUT", "uploads/a/parts/1?multipart="), ("PUT", "uploads/a/parts/1?multipart=b&uploads"),
        ("PUT", "uploads/a%2Fb"), ("POST", "uploads/a/complete"), ("POST", "uploads/a/complete/x?multipart=b"),
        ("DELETE", "uploads/a/complete?multipart=b"), ("PUT", "downloads/a"),
    ])
    func otherResourcesDoNotExist(method: String, target: String) {
        #expect(request(method, target) == nil)
    }

    @Test func responsesOfTheStoreBecomeThoseOfTheConsole() {
        let initiated = HTTPResponse(
            status: 200, body: .bytes(Array("<Initiated><UploadId>0AF</UploadId></Initiated>".utf8)))
        #expect(text(StoreReply.response(to: initiated)) == #"{"etag":"","multipartId":"0AF"}"#)
        let stored = HTTPResponse(status: 200, fields: ["ETag": #""AB""#])
        #expect(text(StoreReply.response(to: stored)) == #"{"etag":"\"AB\""}"#)
        for (status, shown) in [(400, 409), (401, 403), (403, 403), (404, 404), (500, 503), (503, 503)] {
            let refused = HTTPResponse(
                status: status, body: .bytes(Array("<Error><Message>It is full.</Message></Error>".utf8)))
            let response = StoreReply.response(to: refused)
            #expect(response.status == shown)
            #expect(text(response).contains("It is full."))
        }
    }

    private func text(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
