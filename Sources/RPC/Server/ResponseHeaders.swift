import Basics
import Wire

/// The header and trailer sections of gRPC's responses (gRPC over HTTP/2, "Responses").
enum ResponseHeaders {
    /// - Parameter encoding: how messages may be compressed; `nil` = none will be.
    static func ok(_ encoding: MessageEncoding?, _ metadata: Metadata) -> HeaderBlock {
        guard metadata.isEmpty else {
            let announcement = encoding.map { [("grpc-encoding", Array($0.rawValue.utf8))] } ?? []
            return HeaderBlock(okFields + announcement + fields(metadata))
        }
        return switch encoding {
        case nil: plain
        case .gzip: gzip
        case .deflate: deflate
        }
    }

    private static let plain = HeaderBlock(permanent: [(":status", "200"), ("content-type", "application/grpc")])
    private static let gzip = HeaderBlock(
        permanent: [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")])
    private static let deflate = HeaderBlock(
        permanent: [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "deflate")])

    private static var okFields: [(name: String, value: [UInt8])] {
        [(":status", Array("200".utf8)), ("content-type", Array("application/grpc".utf8))]
    }

    static func okTrailers(_ metadata: Metadata) -> HeaderBlock {
        metadata.isEmpty ? plainTrailers : HeaderBlock([("grpc-status", [0x30])] + fields(metadata))
    }

    private static let plainTrailers = HeaderBlock(permanent: [("grpc-status", "0")])

    /// A refusal on the level of HTTP, for peers that do not speak gRPC.
    static func http(_ status: Int) -> HeaderBlock {
        HeaderBlock([(":status", Array("\(status)".utf8)), ("content-length", [0x30])])
    }

    /// The status in trailers.
    static func trailers(_ error: RPCError, _ metadata: Metadata) -> HeaderBlock {
        HeaderBlock(fields(error) + fields(metadata))
    }

    /// The status in a response that has no body (Trailers-Only).
    static func trailersOnly(_ error: RPCError, _ metadata: Metadata = Metadata()) -> HeaderBlock {
        HeaderBlock(okFields + fields(error) + fields(metadata))
    }

    static func fields(_ metadata: Metadata) -> [(name: String, value: [UInt8])] {
        metadata.pairs.map { ($0.name, Array($0.value.utf8)) }
    }

    /// A failed call's status.
    static func fields(_ error: RPCError) -> [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = [
            ("grpc-status", Array("\(error.status.rawValue)".utf8)),
            ("grpc-message", PercentEncoding.encode(error.sentMessage)),
        ]
        if let details = error.richStatus {
            // Binary metadata goes unpadded (gRPC over HTTP/2, "Custom-Metadata").
            let text = Base64.encode(details).utf8.filter { $0 != UInt8(ascii: "=") }
            fields.append(("grpc-status-details-bin", text))
        }
        if let milliseconds = error.retryAfterMilliseconds {
            fields.append(("retry-after-ms", Array("\(milliseconds)".utf8)))
        }
        if error.status == .unimplemented {
            fields.append(("grpc-accept-encoding", Array(MessageEncoding.offered.utf8)))
        }
        return fields
    }
}
