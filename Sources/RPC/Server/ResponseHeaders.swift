import Platform
import Proto
import Wire

/// The header and trailer sections of gRPC's responses (gRPC over HTTP/2, "Responses").
enum ResponseHeaders {
    static let ok = HeaderBlock(permanent: [(":status", "200"), ("content-type", "application/grpc")])
    /// As `ok`, for a response whose messages may be compressed.
    static func ok(_ encoding: MessageEncoding) -> HeaderBlock { encoding == .gzip ? okGzip : okDeflate }

    private static let okGzip = HeaderBlock(
        permanent: [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")])
    private static let okDeflate = HeaderBlock(
        permanent: [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "deflate")])

    static let okTrailers = HeaderBlock(permanent: [("grpc-status", "0")])

    /// A refusal on the level of HTTP, for peers that do not speak gRPC.
    static func http(_ status: Int) -> HeaderBlock {
        HeaderBlock([(":status", Array("\(status)".utf8)), ("content-length", [0x30])])
    }

    /// The status in trailers.
    static func trailers(_ error: RPCError) -> HeaderBlock { HeaderBlock(fields(error)) }

    /// The status in a response that has no body (Trailers-Only).
    static func trailersOnly(_ error: RPCError) -> HeaderBlock {
        HeaderBlock(
            [(":status", Array("200".utf8)), ("content-type", Array("application/grpc".utf8))] + fields(error))
    }

    private static func fields(_ error: RPCError) -> [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = [
            ("grpc-status", Array("\(error.status.rawValue)".utf8)),
            ("grpc-message", PercentEncoding.encode(error.message)),
        ]
        if let code = error.detail {
            var detail = ErrorDetail()
            detail.code = code.rawValue
            detail.message = error.message
            // Binary metadata goes unpadded (gRPC over HTTP/2, "Custom-Metadata").
            let text = Base64.encode(detail.encoded()).utf8.filter { $0 != UInt8(ascii: "=") }
            fields.append(("grpc-status-details-bin", text))
        }
        if let milliseconds = error.retryAfterMilliseconds {
            fields.append(("retry-after-ms", Array("\(milliseconds)".utf8)))
        }
        if error.status == .unimplemented {
            fields.append(("grpc-accept-encoding", Array("identity,gzip,deflate".utf8)))
        }
        return fields
    }
}
