import Basics
import Crypto
import Foundation
import HTTPTypes
import RPC
import TestSupport
import Testing
import Wire

@testable import Observability

/// The contents of a call's log line.
@Suite(.timeLimited) struct AccessLogTests {
    private struct Caller: CallerIdentity {
        func describe(in line: inout LogLine) { line.add("principal", "user:acme/\u{1B}[2J") }
    }

    private struct Failure: Error, CustomStringConvertible { let description = "no such table: users" }

    private func context(_ requestID: String, service: String = "a.B") -> CallContext {
        CallContext(
            method: MethodDescriptor(service: service, name: "C", kind: .unary),
            peer: PeerAddress(host: "2001:db8::1", port: 40_000), requestID: RequestID.accepted(requestID.utf8),
            identity: Caller())
    }

    /// Returns the lines that `body` writes through an access log.
    private func lines(
        _ settings: LogConfiguration = LogConfiguration(format: .json), _ body: (AccessLog) -> Void
    ) throws -> [[String: Any]] {
        let pipe = Pipe()
        let log = ProcessLog(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        log.configure(settings)
        body(AccessLog(listener: "gateway", log: log))
        log.flush()
        try pipe.fileHandleForWriting.close()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return try text.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
        }
    }

    @Test func lineNamesRequestMethodPeerAndCaller() throws {
        let line = try #require(try lines { $0.finished(context("r1"), status: .ok, error: nil) }.first)
        #expect(line["event"] as? String == "call" && line["level"] as? String == "info")
        #expect(line["listener"] as? String == "gateway" && line["request_id"] as? String == "r1")
        #expect(line["method"] as? String == "/a.B/C" && line["code"] as? String == "OK")
        #expect(line["peer"] as? String == "[2001:db8::1]:40000")
        #expect(line["principal"] as? String == "user:acme/\u{1B}[2J")
        #expect(line["error"] == nil && line["detail"] == nil)
    }

    @Test(
        arguments: [
            (RPCError(bare: .internalError, "the gateway failed"), "error", "no such table: users"),
            (RPCError(bare: .unavailable, "the gateway is stopping"), "warning", "no such table: users"),
            (RPCError(bare: .notFound, "there is no such upload"), "info", nil),
        ] as [(RPCError, String, String?)])
    func failureOfTheGatewayTellsItsCauseAndAMistakeOfTheCallerNone(
        error: RPCError, level: String, cause: String?
    ) throws {
        let line = try #require(
            try lines { log in
                log.finished(context("r1"), status: error.status, error: error.caused(by: Failure()))
            }.first)
        #expect(line["level"] as? String == level)
        #expect(line["error"] as? String == cause)
    }

    @Test func internalErrorWithoutACauseTellsItsMessage() throws {
        let error = RPCError(bare: .internalError, "the suite could not be stored")
        let line = try #require(try lines { $0.finished(context("r1"), status: error.status, error: error) }.first)
        #expect(line["error"] as? String == error.message)
    }

    @Test func withoutAccessLinesOnlyErrorsHaveOne() throws {
        let failure = RPCError(bare: .internalError, "no")
        let written = try lines(LogConfiguration(level: .debug, format: .json, access: false)) { log in
            log.finished(context("r1"), status: .ok, error: nil)
            log.finished(context("r2"), status: .internalError, error: failure)
        }
        #expect(written.map { $0["request_id"] as? String } == ["r2"])
    }

    @Test func probesAreForDebugging() throws {
        let probe = { (log: AccessLog) in
            log.finished(context("r1", service: "grpc.health.v1.Health"), status: .ok, error: nil)
        }
        #expect(try lines(LogConfiguration(format: .json), probe).isEmpty)
        #expect(try lines(LogConfiguration(level: .debug, format: .json), probe).count == 1)
    }
}
