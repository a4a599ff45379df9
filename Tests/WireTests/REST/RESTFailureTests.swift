import Basics
import TestSupport
import Testing

@testable import GRPCWire
@testable import Protobuf
@testable import REST

/// Tests the shapes of an error.
@Suite(.timeLimited) struct RESTFailureTests {
    private let failure = RESTFailure(
        .notFound, "there is no \"a\"", reason: "NO_SUCH_DEVICE", domain: "test", retryAfterMilliseconds: 1500)

    private func text(_ failure: RESTFailure, _ style: RESTStyle) -> String {
        String(decoding: failure.json(style), as: UTF8.self)
    }

    @Test func statusShapeHasTheDetailsOfAIP193() {
        #expect(
            text(failure, RESTStyle())
                == #"{"error":{"code":404,"message":"there is no \"a\"","status":"NOT_FOUND","details":["#
                + #"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"NO_SUCH_DEVICE","domain":"test"},"#
                + #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.500s"}]}}"#)
        let bare = RESTFailure(.internalError, "the gateway failed")
        #expect(text(bare, RESTStyle()).contains(#""reason":"INTERNAL""#))
    }

    @Test func nestedShapeNamesTheReasonOrAGeneralCode() {
        let style = RESTStyle(errors: .nested)
        #expect(text(failure, style) == #"{"error":{"code":"NO_SUCH_DEVICE","message":"there is no \"a\""}}"#)
        let codes: [(StatusCode, String)] = [
            (.invalidArgument, "INVALID_REQUEST"), (.notFound, "NOT_FOUND"), (.alreadyExists, "ALREADY_EXISTS"),
            (.resourceExhausted, "RATE_LIMITED"), (.internalError, "SERVER_ERROR"), (.unavailable, "UNAVAILABLE"),
        ]
        for (status, code) in codes {
            #expect(text(RESTFailure(status, "m"), style) == #"{"error":{"code":"\#(code)","message":"m"}}"#)
        }
    }

    @Test func otherShapesHaveWhatTheirClientsRead() {
        let http = RESTStyle(errors: .http)
        #expect(text(failure, http) == #"{"message":"there is no \"a\"","error":"Not Found","statusCode":404}"#)
        #expect(
            text(RESTFailure(.invalidArgument, "m"), http)
                == #"{"message":["m"],"error":"Bad Request","statusCode":400}"#)
        #expect(text(failure, RESTStyle(errors: .codeMsg)) == #"{"code":-1,"msg":"there is no \"a\""}"#)
        #expect(text(failure, RESTStyle(errors: .message)) == #"{"message":"there is no \"a\""}"#)
        let envelope = RESTStyle(errors: .envelope)
        #expect(
            text(failure, envelope)
                == #"{"success":false,"statusCode":404,"message":"there is no \"a\"","errorCode":"NOT_FOUND"}"#)
        #expect(text(RESTFailure(.resourceExhausted, "m"), envelope).contains(#""errorCode":"RATE_LIMITED""#))
    }

    /// Clients that read fractions of seconds refuse times without one, so the fraction is there even if it is 0.
    @Test(
        arguments: [
            (1_767_225_600_123_456, "2026-01-01T00:00:00.123Z"), (1_767_225_600_000_999, "2026-01-01T00:00:00.000Z"),
            (1_767_225_600_020_000, "2026-01-01T00:00:00.020Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func envelopeHasTheValueAndTheTime(_ microseconds: Int64, _ timestamp: String) {
        let json = RESTEnvelope.success(Array("[1]".utf8), at: UnixTime(microseconds: microseconds))
        #expect(
            String(decoding: json, as: UTF8.self) == #"{"success":true,"data":[1],"timestamp":"\#(timestamp)"}"#)
    }

    @Test func failureStatusReplacesAllBut401() {
        let style = RESTStyle(failureStatus: 200)
        #expect(failure.httpStatus(style) == 200)
        #expect(RESTFailure(.unauthenticated, "m").httpStatus(style) == 401)
        #expect(RESTFailure(.invalidArgument, "m", httpStatus: 415).httpStatus(RESTStyle()) == 415)
    }
}
