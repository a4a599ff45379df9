import CommonProto
import GRPCWire
import Protobuf
import REST

/// A REST response that is one message.
final class RESTEncoder: ResponseEncoder {
    private let form: RESTForm
    private var body: [UInt8] = []
    private var contentType: String?

    init(_ form: RESTForm) {
        self.form = form
    }

    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        (body, contentType) = try form.body(of: frame[MessagePrefix.byteCount...])
        // Trailers are sent as header fields, before the message.
        return ResponsePart()
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        // A response with status 204 has no content (RFC 9110, section 15.3.5).
        guard form.status(context) != 204 else {
            return ResponsePart(head: form.head(RESTForm.trailers(context), context), end: .head)
        }
        var own =
            [(name: "content-type", value: contentType ?? "application/octet-stream")] + RESTForm.trailers(context)
        if context.compressesResponses, let encoding = form.accepted {
            body = body.withUnsafeBytes { encoding.compress($0) }
            own.append(("content-encoding", encoding.rawValue))
        }
        guard form.omitsBody else { return ResponsePart(head: form.head(own, context), body: body, end: .body) }
        own.append(("content-length", "\(body.count)"))
        return ResponsePart(head: form.head(own, context), end: .head)
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        form.failure(error, context)
    }
}

/// A REST response that is a stream of messages. After an error the stream is reset, so that the received part is not taken for the
/// complete response.
final class RESTStreamEncoder: ResponseEncoder {
    enum Framing {
        /// The bytes of each message, one after the other.
        case raw
        /// An object on each line: `{"result":…}`, and for an error `{"error":…}`.
        case lines
        /// Server-sent events (WHATWG HTML, section 9.2).
        case events

        fileprivate var contentType: String {
            switch self {
            case .raw: "application/octet-stream"
            case .lines: "application/x-ndjson"
            case .events: "text/event-stream"
            }
        }
    }

    private let form: RESTForm
    private let framing: Framing

    init(_ form: RESTForm, framing: Framing) {
        self.form = form
        self.framing = framing
    }

    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart {
        let (bytes, contentType) = try form.route.body(of: frame[MessagePrefix.byteCount...])
        return ResponsePart(head: firstHead(contentType, context, &state), body: framed(bytes))
    }

    func body(_ body: HttpBody, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart? {
        guard framing == .raw, case .httpBody = form.route.responseBody else { return nil }
        let contentType = body.contentType.isEmpty ? nil : body.contentType
        return ResponsePart(head: firstHead(contentType, context, &state), body: body.data)
    }

    private func framed(_ message: [UInt8]) -> [UInt8] {
        switch framing {
        case .raw: message
        case .lines: Array("{\"result\":".utf8) + message + Array("}\n".utf8)
        case .events: Array("data: ".utf8) + message + Array("\n\n".utf8)
        }
    }

    private func firstHead(
        _ contentType: String?, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponseSection? {
        if state.hasBegun { return nil }
        state.hasBegun = true
        var own = [
            (name: "content-type", value: framing == .raw ? contentType ?? framing.contentType : framing.contentType)
        ]
        if framing == .events { own.append(("cache-control", "no-store")) }
        if framing == .raw, let length = context.responseLength { own.append(("content-length", "\(length)")) }
        return form.head(own, context)
    }

    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        ResponsePart(head: firstHead(nil, context, &state), end: .body)
    }

    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart {
        guard state.hasBegun else { return form.failure(error, context) }
        let json = error.restFailure(form.domain).json(form.route.style)
        let body =
            switch framing {
            case .raw: [UInt8]()
            case .lines:
                form.route.style.errors == .status
                    ? json + [0x0A] : Array("{\"error\":".utf8) + json + Array("}\n".utf8)
            case .events: Array("event: error\ndata: ".utf8) + json + Array("\n\n".utf8)
            }
        return ResponsePart(body: body, end: .broken)
    }
}
