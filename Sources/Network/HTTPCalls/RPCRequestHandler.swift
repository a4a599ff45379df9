import EventLoops
import HTTPTypes
import RPC
import Synchronization
import Wire

/// The calls of a server over HTTP/1.1: Connect and gRPC-Web.
///
/// Each request goes to the server by an HTTP/2 connection of its own, within this process: whatever a call is subject to
/// over HTTP/2, access, limits, deadlines, flow control and the counting of all that, it is subject to here, for it is the
/// same code. What that costs, some microseconds, is little beside the hop from a connection's thread to an event loop.
package final class RPCRequestHandler: HTTPRequestHandler {
    private let server: RPCServer
    private let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// - Parameter loops: where the calls run; not empty.
    package init(server: RPCServer, loops: [EventLoop]) {
        self.server = server
        self.loops = loops
    }

    package func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        // Its status is in trailers, which libmicrohttpd does not send, nor browsers read.
        if let type = head.fields["content-type"]?.lowercased(), Self.isGRPC(type) {
            return Self.refusal(415, .unknown, "gRPC needs HTTP/2: over HTTP/1.1 calls come by Connect or gRPC-Web")
        }
        guard let progress = CallProgress() else {
            server.metrics.limitReached("descriptors")
            return Self.refusal(503, .unavailable, "the gateway has too many files open")
        }
        head.notes.isCall = true
        let loop = loops[turn.add(1, ordering: .relaxed).newValue % loops.count]
        let call = InnerConnection(
            server: server, loop: loop, peer: PeerAddress(host: head.peer, port: 0), progress: progress)
        let request = HeaderBlock(Self.fields(head))
        let hasBody = head.framing != .none
        loop.run { call.open(request, hasBody: hasBody) }
        return .receive(RPCExchange(call: call, loop: loop, progress: progress, socket: head.socket, hasBody: hasBody))
    }

    private static func refusal(_ status: Int, _ code: StatusCode, _ message: String) -> HTTPDisposition {
        let fields: HTTPFields = ["Content-Type": "application/json"]
        return .respond(
            HTTPResponse(status: status, fields: fields, body: .bytes(ConnectError(code, message).json)))
    }

    private static func isGRPC(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" && $0 != " " }
        return name == "application/grpc" || name.hasPrefix("application/grpc+")
    }

    /// Fields that concern HTTP/1.1's connection alone (RFC 9113, section 8.2.2), or that the front has dealt with.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "trailer", "host",
        "http2-settings", "content-length", "expect", "x-request-id",
    ]

    private static func fields(_ head: HTTPRequestHead) -> [(name: String, value: [UInt8])] {
        let named = head.fields.values(of: "connection").flatMap { $0.lowercased().split(separator: ",") }
            .map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
        let left = head.fields.fields.filter { !hopByHop.contains($0.name) && !named.contains($0.name) }
        let pseudo = [
            (":method", head.method), (":scheme", head.isSecure ? "https" : "http"), (":path", head.target),
            (":authority", head.fields["host"] ?? ""), ("x-request-id", head.requestID),
        ]
        return pseudo.map { ($0.0, Array($0.1.utf8)) } + left.map { ($0.name, Array($0.value.utf8)) }
    }
}
