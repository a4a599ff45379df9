import Basics
import GRPCWire

/// gRPC's responses: messages with prefixes, the status in trailers (gRPC over HTTP/2, "Responses"). Stateless, so that all calls
/// share a few instances.
final class GRPCEncoder: ResponseEncoder, Sendable {
    /// The encoding that the client accepts; `nil` = no compression.
    private let accepted: MessageEncoding?

    private init(_ accepted: MessageEncoding?) {
        self.accepted = accepted
    }

    private static let plain = GRPCEncoder(nil)
    private static let gzip = GRPCEncoder(.gzip)
    private static let deflate = GRPCEncoder(.deflate)

    /// - Parameter encoding: accepted by the client; `nil` = no compression.
    static func accepting(_ encoding: MessageEncoding?) -> GRPCEncoder {
        switch encoding {
        case nil: plain
        case .gzip: gzip
        case .deflate: deflate
        }
    }

    func message(_ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        var head: ResponseSection?
        if !state.hasBegun {
            state.hasBegun = true
            if context.compressesResponses || context.mayCompressLater { state.announced = accepted }
            head = GRPCSections.ok(state.announced, context)
        }
        guard context.compressesResponses, let encoding = state.announced else {
            return ResponsePart(head: head, body: frame)
        }
        return ResponsePart(head: head, body: encoding.compressing(frame: frame))
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        ResponsePart(
            head: state.hasBegun ? nil : GRPCSections.ok(nil, context),
            end: .trailers(GRPCSections.okTrailers(context.trailingMetadata)))
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        if state.hasBegun {
            return ResponsePart(end: .trailers(GRPCSections.trailers(error, context.trailingMetadata)))
        }
        guard context.responseMetadata.isEmpty, !context.announcesRequestID else {
            // In a Trailers-Only response they would be received as trailers.
            return ResponsePart(
                head: GRPCSections.ok(nil, context),
                end: .trailers(GRPCSections.trailers(error, context.trailingMetadata)))
        }
        return ResponsePart(head: GRPCSections.trailersOnly(error, context.trailingMetadata), end: .head)
    }
}

/// The header and trailer sections of gRPC's responses (gRPC over HTTP/2, "Responses").
enum GRPCSections {
    /// - Parameter encoding: the possible compression of messages; `nil` = none.
    static func ok(_ encoding: MessageEncoding?, _ context: CallContext) -> ResponseSection {
        guard context.responseMetadata.isEmpty else {
            let announcement = encoding.map { [("grpc-encoding", Array($0.rawValue.utf8))] } ?? []
            return .made(status: 200, contentType + announcement + fields(context.leadingMetadata))
        }
        let section =
            switch encoding {
            case nil: plain
            case .gzip: gzip
            case .deflate: deflate
            }
        return .permanent(section, requestID: context.announcedID)
    }

    private static let plain = permanent(nil)
    private static let gzip = permanent(.gzip)
    private static let deflate = permanent(.deflate)

    private static func permanent(_ encoding: MessageEncoding?) -> PermanentSection {
        let announcement = encoding.map { [("grpc-encoding", $0.rawValue)] } ?? []
        return PermanentSection([("content-type", "application/grpc")] + announcement, status: 200)
    }

    private static let contentType = ResponseSection.fields([("content-type", "application/grpc")])

    static func okTrailers(_ metadata: Metadata) -> ResponseSection {
        metadata.isEmpty ? plainTrailers : .made(status: nil, [("grpc-status", [0x30])] + fields(metadata))
    }

    private static let plainTrailers = ResponseSection.permanent(PermanentSection([("grpc-status", "0")], status: nil))

    /// Returns the header section of an HTTP error, for clients that do not use gRPC.
    static func http(_ status: Int) -> ResponseSection {
        .made(status: status, [("content-length", [0x30])])
    }

    /// Returns the trailer section with the status.
    static func trailers(_ error: RPCError, _ metadata: Metadata) -> ResponseSection {
        .made(status: nil, fields(error) + fields(metadata))
    }

    /// Returns the only section of a response without a body (Trailers-Only).
    static func trailersOnly(_ error: RPCError, _ metadata: Metadata = Metadata()) -> ResponseSection {
        .made(status: 200, contentType + fields(error) + fields(metadata))
    }

    static func fields(_ metadata: Metadata) -> ResponseSection.Fields {
        metadata.pairs.map { ($0.name, Array($0.value.utf8)) }
    }

    /// Returns the fields for a failed call's status.
    static func fields(_ error: RPCError) -> ResponseSection.Fields {
        var fields: ResponseSection.Fields = [
            ("grpc-status", Array("\(error.status.rawValue)".utf8)),
            ("grpc-message", PercentEncoding.encode(error.sentMessage)),
        ]
        if let details = error.richStatus {
            // Binary metadata is sent without padding (gRPC over HTTP/2, "Custom-Metadata").
            fields.append(("grpc-status-details-bin", Base64.encodeUnpadded(details)))
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
