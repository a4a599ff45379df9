import TestSupport
import Testing
import Wire

@testable import GRPCWire

/// The parts of the Connect protocol that need no connection.
@Suite(.timeLimited) struct ConnectFramingTests {
    private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The whole table of the Connect protocol, "Error Codes".
    @Test func everyStatusHasItsNameAndHTTPStatus() {
        let table: [(StatusCode, String, Int)] = [
            (.ok, "ok", 200), (.cancelled, "canceled", 499), (.unknown, "unknown", 500),
            (.invalidArgument, "invalid_argument", 400), (.deadlineExceeded, "deadline_exceeded", 504),
            (.notFound, "not_found", 404), (.alreadyExists, "already_exists", 409),
            (.permissionDenied, "permission_denied", 403), (.resourceExhausted, "resource_exhausted", 429),
            (.failedPrecondition, "failed_precondition", 400), (.aborted, "aborted", 409),
            (.outOfRange, "out_of_range", 400), (.unimplemented, "unimplemented", 501),
            (.internalError, "internal", 500), (.unavailable, "unavailable", 503), (.dataLoss, "data_loss", 500),
            (.unauthenticated, "unauthenticated", 401),
        ]
        #expect(table.map(\.0) == StatusCode.allCases)
        for (status, name, http) in table {
            #expect(status.connectName == name)
            #expect(status.httpStatus == http)
        }
    }

    @Test(arguments: [
        ("0", 0), ("1", 1_000_000), ("9999999999", 9_999_999_999_000_000), ("12345678901", nil), ("", nil), ("-1", nil),
        ("+1", nil), ("1.5", nil), ("1s", nil), ("\u{661}", nil),
    ])
    func connectTimeoutsAreParsed(text: String, nanoseconds: Int64?) {
        #expect(ConnectTimeout.parse(text) == nanoseconds)
    }

    @Test func errorIsWrittenWithItsDetails() {
        #expect(text(ConnectError(.cancelled, "").json) == #"{"code":"canceled"}"#)
        let detail = ConnectError.Detail(type: "a.B", value: [1], debug: [("x", "1"), ("y", "\u{E9}\n")])
        let bare = ConnectError.Detail(type: "a.C", value: [])
        #expect(
            text(ConnectError(.notFound, "no \"\\\u{1}", details: [detail, bare]).json)
                == #"{"code":"not_found","message":"no \"\\\u0001","details":[{"type":"a.B","value":"AQ","#
                + "\"debug\":{\"x\":\"1\",\"y\":\"\u{E9}\\n\"}},{\"type\":\"a.C\",\"value\":\"\"}]}")
    }

    @Test func endOfStreamHoldsErrorAndMetadata() {
        let empty = ConnectEndOfStream.frame(nil, metadata: Metadata())
        #expect(empty == [2, 0, 0, 0, 2] + Array("{}".utf8))
        let metadata = Metadata([("a", "1"), ("b", "2"), ("a", "3")])
        let frame = ConnectEndOfStream.frame(ConnectError(.unknown, "x"), metadata: metadata)
        #expect(
            text(frame.dropFirst(5))
                == #"{"error":{"code":"unknown","message":"x"},"metadata":{"a":["1","3"],"b":["2"]}}"#)
        #expect(Int(frame[4]) == frame.count - 5)
    }

    @Test func queryOfAGetCallIsRead() throws {
        let plain = try ConnectQuery("message=a+b%2B%c3%a9%00&encoding=json&other=1")
        #expect(plain.message == Array("a b+\u{E9}\0".utf8))
        #expect(plain.codec == .json && plain.compression.isEmpty)
        let packed = try ConnectQuery("connect=v1&base64=1&message=AP-_&encoding=proto&compression=gzip")
        #expect(packed.message == [0, 0xFF, 0xBF])
        #expect(packed.codec == .proto && packed.compression == "gzip")
    }

    @Test(arguments: [
        ("", ConnectQuery.Failure.encoding), ("encoding=JSON&message=", .encoding), ("encoding=json", .message),
        ("encoding=json&message=%", .escape), ("encoding=json&message=%4", .escape), ("%zz=1", .escape),
        ("encoding=json&encoding=json&message=", .repeated), ("encoding=json&message=?&base64=1", .base64),
        ("encoding=json&message=&base64=0", .flag), ("encoding=json&message=&connect=1", .version),
    ])
    func malformedQueryIsRefused(query: String, failure: ConnectQuery.Failure) {
        #expect(throws: failure) { try ConnectQuery(query[...]) }
    }
}
