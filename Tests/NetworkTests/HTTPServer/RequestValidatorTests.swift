import HTTPServer
import HTTPTypes
import TestSupport
import Testing

@Suite(.timeLimited) struct RequestValidatorTests {
    private static let refusals: [(HTTPFields, RequestValidator.Refusal)] = [
        (["Content-Length": "1", "content-length": "1"], .repeated("content-length")),
        (["Content-Length": "1", "Transfer-Encoding": "chunked"], .lengthBesideTransferEncoding),
        (["Transfer-Encoding": "gzip, chunked"], .transferEncodingUnknown),
        (["Transfer-Encoding": "chunked", "TRANSFER-ENCODING": "chunked"], .repeated("transfer-encoding")),
        (["Content-Length": "+1"], .lengthMalformed),
        (["Content-Length": "\(HTTPRequestHead.Framing.longestBody + 1)"], .lengthMalformed),
        (["Content-Length": "9223372036854775807"], .lengthMalformed),
        (["Content-Length": "9223372036854775808"], .lengthMalformed),
        (["Content-Length": "1, 1"], .lengthMalformed),
        (["Content-Length": ""], .lengthMalformed),
        (["Host": "other"], .repeated("host")),
        (["Content-Length ": "1"], .nameNotToken),
        (["": "1"], .nameNotToken),
        (["x-\u{212A}": "1"], .nameNotToken),
        (["X-A": "a\u{1}b"], .valueNotPrintable),
        (["Expect": "200-maybe"], .expectationUnknown),
    ]

    private let front = RequestValidator()

    private func admit(_ fields: HTTPFields, target: String = "/b/k") throws -> HTTPRequestHead.Framing {
        var all = fields
        all.append("Host", "store")
        return try front.admit(target: target, fields: all, version: "HTTP/1.1")
    }

    @Test func framesAPlainRequest() throws {
        #expect(try admit([:]) == .none)
        #expect(try admit(["Content-Length": "0"]) == .none)
        let longest = HTTPRequestHead.Framing.longestBody
        #expect(try admit(["Content-Length": "\(longest)"]) == .length(longest))
        #expect(try admit(["Transfer-Encoding": "Chunked"]) == .chunked)
        #expect(try admit(["Expect": "100-Continue", "Content-Length": "7"]) == .length(7))
    }

    @Test(arguments: refusals)
    func ambiguousRequestIsRefused(fields: HTTPFields, refusal: RequestValidator.Refusal) {
        #expect(throws: refusal) { try admit(fields) }
    }

    @Test func moreBytesOfFieldsThanTheLimitAreRefused() throws {
        // "host", "store", "x", "/b/k"
        #expect(try admit(["x": String(repeating: "a", count: (16 << 10) - 14)]) == .none)
        #expect(throws: RequestValidator.Refusal.tooLarge) {
            try admit(["x": String(repeating: "a", count: (16 << 10) - 13)])
        }
    }

    @Test func moreFieldsThanTheLimitAreRefused() throws {
        var fields = HTTPFields()
        for index in 0..<99 {
            fields.append("x-\(index)", "")
        }
        #expect(try admit(fields) == .none)
        fields.append("x-99", "")
        #expect(throws: RequestValidator.Refusal.tooManyFields) { try admit(fields) }
    }

    @Test func takesOriginFormAndAHostOnly() throws {
        for target in ["", "*", "b", "ftp://store/b", "http:///b", "http://user@store/b", "http:store/b"] {
            #expect(throws: RequestValidator.Refusal.targetUnknown) { try admit([:], target: target) }
        }
        #expect(throws: RequestValidator.Refusal.hostMissing) {
            try front.admit(target: "/", fields: [:], version: "HTTP/1.1")
        }
        #expect(try front.admit(target: "/", fields: [:], version: "HTTP/1.0") == .none)
    }
}
