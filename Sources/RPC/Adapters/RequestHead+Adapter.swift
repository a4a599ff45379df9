import GRPCWire
import Protobuf
import ProtobufJSON

/// A request that is a call. Moved rather than copied, because it is made for every call.
struct AdaptedCall: ~Copyable {
    let method: any Method
    let adapter: CallProtocolAdapter
    /// The error of the header section, sent to the client as the call's error.
    let fault: RPCError?
}

/// A request that is not a call: the complete response to it, and the reason for the log; `nil` = not logged.
struct RequestRefusal: Error {
    let response: ResponsePart
    let reason: RefusedRequest.Reason?
}

extension RequestHead {
    /// Finds the method of a request, and the adapter of the request's protocol.
    mutating func adapt(for server: RPCServer) throws(RequestRefusal) -> AdaptedCall {
        isGRPC ? try adaptGRPC(for: server) : try adaptWeb(for: server)
    }

    // MARK: gRPC

    private func adaptGRPC(for server: RPCServer) throws(RequestRefusal) -> AdaptedCall {
        switch fault {
        case .tooLarge: throw Self.refusal(431, .headerSize)
        case .notPost: throw Self.refusal(405, .httpMethod)
        case .none, .badTimeout, .encoding: break
        }
        guard let method else {
            let error = RPCError.unimplemented("this listener has no method \(unknownPath.prefix(200))")
            throw RequestRefusal(
                response: ResponsePart(head: GRPCSections.trailersOnly(error), end: .head), reason: .unknownMethod)
        }
        let adapter = CallProtocolAdapter(
            request: .framed(FramedDecoder(limit: server.limit(of: method))),
            response: GRPCEncoder.accepting(accepted.first))
        return AdaptedCall(method: method, adapter: adapter, fault: fieldFault ?? trailerFault)
    }

    private static func refusal(_ status: Int, _ reason: RefusedRequest.Reason) -> RequestRefusal {
        RequestRefusal(response: ResponsePart(head: GRPCSections.http(status), end: .head), reason: reason)
    }

    private var trailerFault: RPCError? {
        takesTrailers
            ? nil
            : .malformedCall("the request must have the field te: trailers; check whether a proxy removes trailers")
    }

    /// The error of a field that gRPC and gRPC-Web have in common.
    private var fieldFault: RPCError? {
        switch fault {
        case .badTimeout: .invalidRequest("grpc-timeout must be 1 to 8 digits and one of n, u, m, S, M, H")
        case .encoding: .unimplemented("grpc-encoding must be identity, gzip or deflate")
        case .none, .tooLarge, .notPost: nil
        }
    }

    // MARK: Connect and gRPC-Web

    private mutating func adaptWeb(for server: RPCServer) throws(RequestRefusal) -> AdaptedCall {
        if case .tooLarge = fault {
            throw RequestRefusal(response: HTTPRefusal.tooLarge(server.limits.http2).reply([]), reason: .headerSize)
        }
        let parts = unknownPath.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? parts[1] : ""
        if method == nil, let path = parts.first {
            if parts.count > 1 { method = server.router.method(path) }
            if method == nil, let call = try adaptREST(path: path, query: query, server) { return call }
        }
        let origin = metadata["origin"]
        if httpMethod == "OPTIONS", metadata["access-control-request-method"] != nil,
            let preflight = server.crossOrigin?.preflight(origin: origin)
        {
            throw RequestRefusal(response: preflight, reason: nil)
        }
        let crossOrigin = server.crossOrigin?.fields(origin: origin) ?? []
        do throws(HTTPRefusal) {
            return try adaptCall(path: parts.first ?? "", query: query, server, crossOrigin)
        } catch {
            var response = error.reply(crossOrigin)
            // A response to HEAD has no body (RFC 9110, section 9.3.2).
            if httpMethod == "HEAD" { response.body = [] }
            throw RequestRefusal(response: response, reason: error.reason)
        }
    }

    private mutating func adaptCall(
        path: Substring, query: Substring, _ server: RPCServer, _ crossOrigin: ResponseSection.Fields
    ) throws(HTTPRefusal) -> AdaptedCall {
        guard let method else { throw .noMethod(path) }
        let isReadable = method.descriptor.kind == .unary && method.descriptor.isSideEffectFree
        if httpMethod == "GET", isReadable {
            return connectGet(method, query: query, server, crossOrigin)
        }
        guard httpMethod == "POST" else { throw .httpMethod(allowed: isReadable ? "GET, POST" : "POST") }
        guard let type = WebContentType(contentType), let codec = MessageCodec(type.codec, method, server.json),
            type.shape.carries(method.descriptor.kind)
        else { throw .contentType(offered: Self.offered(method, hasJSON: server.json != nil)) }
        let limit = server.limit(of: method)
        var form = WebResponseForm(type: type, codec: codec, crossOrigin: crossOrigin)
        let request: RequestDecoder
        let response: any ResponseEncoder
        var connectFault: RPCError?
        switch type.shape {
        case .grpcWeb, .grpcWebText:
            form.accepted = accepted.first
            request =
                type.shape == .grpcWeb
                ? .framed(FramedDecoder(limit: limit)) : .framedText(GRPCWebTextDecoder(limit: limit))
            response = GRPCWebEncoder(form)
        case .connectStream:
            connectFault = readConnect("connect-content-encoding", metadata["connect-content-encoding"])
            form.accepted = MessageEncoding.accepted(metadata["connect-accept-encoding"] ?? "").first
            request = .framed(FramedDecoder(limit: limit))
            response = ConnectStreamEncoder(form)
        case .connectUnary:
            connectFault = readConnect("content-encoding", metadata["content-encoding"])
            form.accepted = MessageEncoding.accepted(metadata["accept-encoding"] ?? "").first
            request = .wholeBody(WholeBodyDecoder(limit: limit, isCompressed: encoding != nil))
            response = ConnectUnaryEncoder(form)
        }
        return AdaptedCall(
            method: method, adapter: CallProtocolAdapter(codec: codec, request: request, response: response),
            fault: connectFault ?? fieldFault)
    }

    private mutating func connectGet(
        _ method: any Method, query: Substring, _ server: RPCServer, _ crossOrigin: ResponseSection.Fields
    ) -> AdaptedCall {
        var form = WebResponseForm(
            type: WebContentType(.connectUnary, .json), codec: .proto,
            accepted: MessageEncoding.accepted(metadata["accept-encoding"] ?? "").first, crossOrigin: crossOrigin)
        var message: [UInt8] = []
        var connectFault: RPCError?
        do throws(ConnectQuery.Failure) {
            let query = try ConnectQuery(query)
            guard let codec = MessageCodec(query.codec, method, server.json) else { throw .encoding }
            form.type = WebContentType(.connectUnary, query.codec)
            form.codec = codec
            connectFault = readConnect("compression", query.compression)
            message = query.message
        } catch {
            // Errors of gRPC's own fields do not count.
            fault = .none
            connectFault = .invalidRequest(error.rawValue)
        }
        let request = WholeBodyDecoder(
            message: message, limit: server.limits.maxMessageSize, isCompressed: encoding != nil)
        return AdaptedCall(
            method: method,
            adapter: CallProtocolAdapter(
                codec: form.codec, request: .wholeBody(request), response: ConnectUnaryEncoder(form)),
            fault: connectFault ?? fieldFault)
    }

    /// - Parameters:
    ///   - field: the name of the field with the request's compression, for the error message.
    ///   - name: the field's value; `nil` or empty = no compression.
    /// - Returns: the error of the fields, if any.
    private mutating func readConnect(_ field: String, _ name: String?) -> RPCError? {
        // The values of gRPC's own fields do not count.
        (timeout, encoding, fault) = (nil, nil, .none)
        if let version = metadata["connect-protocol-version"], version != "1" {
            return .invalidRequest("connect-protocol-version must be 1")
        }
        if let text = metadata["connect-timeout-ms"] {
            timeout = ConnectTimeout.parse(text)
            if timeout == nil { return .invalidRequest("connect-timeout-ms must be 1 to 10 digits") }
        }
        guard let name, !name.isEmpty, name != "identity" else { return nil }
        encoding = MessageEncoding(rawValue: name)
        return encoding == nil ? .unimplemented("\(field) must be identity, gzip or deflate") : nil
    }

    private static func offered(_ method: any Method, hasJSON: Bool) -> [String] {
        let codecs: [WebContentType.Codec] = hasJSON ? [.json, .proto] : [.proto]
        let shapes: [WebContentType.Shape] = [.connectUnary, .connectStream, .grpcWeb, .grpcWebText]
        return ["application/grpc"]
            + shapes.filter { $0.carries(method.descriptor.kind) }.flatMap { shape in
                codecs.map { WebContentType(shape, $0).name }
            }
    }
}

extension WebContentType.Shape {
    /// Whether calls of that kind can have this content type.
    fileprivate func carries(_ kind: CallKind) -> Bool {
        switch self {
        case .connectUnary: kind == .unary
        case .connectStream: kind != .unary
        case .grpcWeb, .grpcWebText: true
        }
    }
}

extension MessageCodec {
    /// `nil` if the server has no schema for JSON.
    fileprivate init?(_ codec: WebContentType.Codec, _ method: any Method, _ json: JSONMapping?) {
        switch codec {
        case .proto:
            self = .proto
        case .json:
            guard let json else { return nil }
            let messages = method.messages
            self = .json(json, input: messages.input, output: messages.output)
        }
    }
}

/// The protocol of one call: gRPC, gRPC-Web or Connect. It extracts messages from the request's body and writes the response;
/// everything else happens in ``ServerCall``, which does not depend on the protocol.
///
/// Does no IO: bytes and values in, bytes and values out. Selected once, when the request's header section was received.
struct CallProtocolAdapter {
    /// The encoding of the messages themselves.
    var codec = MessageCodec.proto
    let request: RequestDecoder
    let response: any ResponseEncoder
}
