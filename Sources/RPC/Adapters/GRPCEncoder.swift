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
