import GRPCWire

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
