import Basics
package import EventLoops
package import HTTPTypes
package import RPC
import Synchronization
import Wire

/// Serves calls over HTTP/1.1: Connect and gRPC-Web.
///
/// A request stays on the thread of its connection, which waits. Its call runs on an event loop with the same access checks,
/// limits, deadlines and metrics as a call over HTTP/2.
package final class RPCRequestHandler: HTTPRequestHandler {
    private let server: RPCServer
    private let loops: [EventLoop]
    private let turn = Atomic<Int>(0)
    private let passesHost: Bool

    /// - Parameters:
    ///   - loops: the loops that run the calls; not empty.
    ///   - passesHost: whether calls have the field `host` of their requests among their metadata.
    package init(server: RPCServer, loops: [EventLoop], passesHost: Bool = false) {
        self.server = server
        self.loops = loops
        self.passesHost = passesHost
    }

    package func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        // gRPC sends the status in trailers, which libmicrohttpd does not send and browsers do not read.
        if let type = head.fields["content-type"]?.lowercased(), Self.isGRPC(type) {
            return Self.refusal(415, .unknown, "gRPC requires HTTP/2: over HTTP/1.1 use Connect or gRPC-Web")
        }
        guard Self.isWellFormed(head) else {
            var response = HTTPResponse(status: 400)
            response.closes = true
            return .respond(response)
        }
        guard let progress = CallProgress() else {
            server.metrics.limitReached("descriptors")
            return Self.refusal(503, .unavailable, "the gateway has too many open files: try again later")
        }
        head.notes.isCall = true
        let loop = loops[turn.add(1, ordering: .relaxed).newValue % loops.count]
        let stream = ThreadCallStream(
            server: server, loop: loop, peer: PeerAddress(host: head.peer, port: 0), progress: progress)
        let host = passesHost ? head.fields["host"].map { [(name: "host", value: $0)] } : nil
        let fields = Self.fields(head) + (host ?? [])
        let hasBody = head.framing != .none
        loop.run { stream.open(fields, hasBody: hasBody) }
        return .receive(
            RPCExchange(stream: stream, loop: loop, progress: progress, socket: head.socket, hasBody: hasBody))
    }

    private static func refusal(_ status: Int, _ code: StatusCode, _ message: String) -> HTTPDisposition {
        let fields: HTTPFields = ["Content-Type": "application/json"]
        return .respond(
            HTTPResponse(status: status, fields: fields, body: .bytes(ConnectError(code, message).json)))
    }

    /// Whether the request line and the host are unambiguous for every server, since they become part of a call and of its log.
    private static func isWellFormed(_ head: HTTPRequestHead) -> Bool {
        head.method != "CONNECT" && head.method.utf8.allSatisfy({ $0.isHTTPTokenCharacter })
            && head.target.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && head.fields["host"].map { !$0.isEmpty && $0.utf8.allSatisfy(isOfHost) } == true
    }

    /// Whether the byte may occur in a host with its port (RFC 3986, section 3.2).
    private static func isOfHost(_ byte: UInt8) -> Bool {
        byte.isHTTPTokenCharacter && !"#^`|".utf8.contains(byte) || "()[],;:=@".utf8.contains(byte)
    }

    private static func isGRPC(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return name == "application/grpc" || name.hasPrefix("application/grpc+")
    }

    /// Fields that only concern the HTTP/1.1 connection (RFC 9113, section 8.2.2), or that the request validator has handled.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "trailer", "host",
        "http2-settings", "content-length", "expect", "x-request-id",
    ]

    private static func fields(_ head: HTTPRequestHead) -> [(name: String, value: String)] {
        let named = head.fields.values(of: "connection").flatMap { $0.lowercased().split(separator: ",") }
            .map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
        let left = head.fields.fields.filter { !hopByHop.contains($0.name) && !named.contains($0.name) }
        let pseudo = [
            (":method", head.method), (":scheme", head.isSecure ? "https" : "http"), (":path", head.target),
            (":authority", head.fields["host"] ?? ""), ("x-request-id", head.requestID),
        ]
        return pseudo + left.map { ($0.name, $0.value) }
    }
}
