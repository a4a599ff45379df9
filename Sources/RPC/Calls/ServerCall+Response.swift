import CommonProto
import Protobuf

/// The messages and sources that the call sends.
extension ServerCall {
    /// The bytes of the response that are not sent yet.
    var unsentBytes: Int { stream?.unsentBytes ?? 0 }

    /// Sends a message that follows the space for its prefix.
    func send(_ frame: [UInt8]) {
        assertCurrent()
        guard isOpen else { return }
        guard hasSpace(for: frame) else {
            return fail(RPCError.overloaded("too many responses are waiting to be read: read them first"))
        }
        usage.traffic.messagesSent += 1
        do throws(RPCError) {
            put(try response.message(frame, context))
        } catch {
            fail(error)
        }
    }

    /// Sends a message of any bytes without encoding it; `false` if the protocol needs it encoded.
    func send(_ body: HttpBody) -> Bool {
        assertCurrent()
        guard isOpen else { return true }
        guard let part = response.body(body, context) else { return false }
        usage.traffic.messagesSent += 1
        put(part)
        return true
    }

    /// Sends a source's bytes as the whole response; `false` if the protocol or the transport cannot.
    func send(_ source: any BodySource, as contentType: String) -> Bool {
        assertCurrent()
        guard isOpen, let stream, !response.hasBegun else { return false }
        var begun = response
        guard let head = begun.body(HttpBody(contentType: contentType), context), stream.send(head, before: source)
        else { return false }
        response = begun
        usage.traffic.messagesSent += 1
        return true
    }

    /// Handles the end of a source.
    ///
    /// - Parameter bytes: the number of its bytes that were sent.
    package func sourceEnded(_ bytes: Int, _ error: (any Error)?) {
        assertCurrent()
        usage.traffic.bytesSent += bytes
        if let error { fail(error) } else { drained() }
    }

    /// Handles that the transport reads no more of a source.
    ///
    /// - Parameter bytes: the number of its bytes that were sent.
    package func sourceStopped(_ bytes: Int) { usage.traffic.bytesSent += bytes }

    func put(_ part: ResponsePart) {
        usage.traffic.bytesSent += part.body.count
        stream?.send(part)
    }

    /// Whether a response may wait to be sent. Small ones always may, and a stream waits for its client by itself.
    private func hasSpace(for frame: [UInt8]) -> Bool {
        let kind = context.method.kind
        guard frame.count > 4096, kind == .unary || kind == .clientStreaming else { return true }
        if server.metrics.responseBytes.value >= server.limits.maxResponseBytes {
            server.metrics.limitReached("response_bytes")
            return false
        }
        if address.responseBytes.value >= server.limits.maxResponseBytesPerAddress {
            server.metrics.limitReached("response_bytes_per_address")
            return false
        }
        return true
    }
}

/// The response of one call: its protocol's encoder, and its progress.
struct CallResponse {
    let encoder: any ResponseEncoder
    private var state = ResponseState()

    init(encoder: any ResponseEncoder) {
        self.encoder = encoder
    }

    /// Whether the header section was sent.
    var hasBegun: Bool { state.hasBegun }

    mutating func message(_ frame: [UInt8], _ context: CallContext) throws(RPCError) -> ResponsePart {
        try encoder.message(frame, context, &state)
    }

    mutating func body(_ body: HttpBody, _ context: CallContext) -> ResponsePart? {
        encoder.body(body, context, &state)
    }

    mutating func success(_ context: CallContext) -> ResponsePart { encoder.success(context, &state) }

    mutating func failure(_ error: RPCError, _ context: CallContext) -> ResponsePart {
        encoder.failure(error, context, &state)
    }
}
