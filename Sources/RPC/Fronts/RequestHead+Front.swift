import Wire

extension RequestHead {
    /// Finds the front of a request that is not gRPC's, and what the call needs to know of its header section.
    ///
    /// - Returns: the whole answer, where there is no call.
    mutating func findFront(for server: RPCServer) -> CallFront.Reply? {
        if case .tooLarge = fault { return HTTPRefusal.tooLarge(server.limits.http2).reply([]) }
        let origin = metadata["origin"]
        if httpMethod == "OPTIONS", metadata["access-control-request-method"] != nil,
            let preflight = server.crossOrigin?.preflight(origin: origin)
        {
            return preflight
        }
        let crossOrigin = server.crossOrigin?.fields(origin: origin) ?? []
        do throws(HTTPRefusal) {
            front = try makeFront(for: server, crossOrigin)
            return nil
        } catch {
            var reply = error.reply(crossOrigin)
            // RFC 9110, section 9.3.2.
            if httpMethod == "HEAD" { reply.body = [] }
            return reply
        }
    }

    private mutating func makeFront(
        for server: RPCServer, _ crossOrigin: CallFront.Fields
    ) throws(HTTPRefusal) -> CallFront {
        let parts = unknownPath.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if let path = parts.first, parts.count > 1 { method = server.router.method(path) }
        guard let method else { throw .noMethod(parts.first ?? "") }
        let isReadable = method.descriptor.kind == .unary && method.descriptor.isSideEffectFree
        if httpMethod == "GET", isReadable {
            return connectGet(method, query: parts.count > 1 ? parts[1] : "", server, crossOrigin)
        }
        guard httpMethod == "POST" else { throw .httpMethod(allowed: isReadable ? "GET, POST" : "POST") }
        guard let type = WebContentType(contentType), let codec = MessageCodec(type.codec, method, server.json),
            type.shape.carries(method.descriptor.kind)
        else { throw .contentType(offered: Self.offered(method, hasJSON: server.json != nil)) }
        var request = CallFront.Request(
            type: type, codec: codec, limit: method.rules.maximumRequest ?? server.limits.maxMessageSize,
            crossOrigin: crossOrigin)
        switch type.shape {
        case .grpcWeb, .grpcWebText:
            request.accepted = accepted.first
            return GRPCWebFront(request)
        case .connectStream:
            request.fault = readConnect("connect-content-encoding", metadata["connect-content-encoding"])
            request.accepted = MessageEncoding.accepted(metadata["connect-accept-encoding"] ?? "").first
            return ConnectStreamFront(request)
        case .connectUnary:
            request.fault = readConnect("content-encoding", metadata["content-encoding"])
            request.accepted = MessageEncoding.accepted(metadata["accept-encoding"] ?? "").first
            return ConnectUnaryFront(request, isCompressed: encoding != nil)
        }
    }

    private mutating func connectGet(
        _ method: any Method, query: Substring, _ server: RPCServer, _ crossOrigin: CallFront.Fields
    ) -> CallFront {
        fault = .none
        var request = CallFront.Request(
            type: WebContentType(.connectUnary, .json), codec: .proto, limit: server.limits.maxMessageSize,
            accepted: MessageEncoding.accepted(metadata["accept-encoding"] ?? "").first, crossOrigin: crossOrigin)
        var message: [UInt8] = []
        do throws(ConnectQuery.Failure) {
            let query = try ConnectQuery(query)
            guard let codec = MessageCodec(query.codec, method, server.json) else { throw .encoding }
            request.type = WebContentType(.connectUnary, query.codec)
            request.codec = codec
            request.fault = readConnect("compression", query.compression)
            message = query.message
        } catch {
            request.fault = .invalidRequest(error.rawValue)
        }
        return ConnectUnaryFront(request, isCompressed: encoding != nil, message: message)
    }

    /// - Parameters:
    ///   - field: what says how the request is compressed, for the message.
    ///   - name: its value; `nil` or empty = not.
    /// - Returns: what is wrong with the fields.
    private mutating func readConnect(_ field: String, _ name: String?) -> RPCError? {
        // What gRPC's own fields say does not count.
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
    /// Whether calls of that kind can come so.
    fileprivate func carries(_ kind: CallKind) -> Bool {
        switch self {
        case .connectUnary: kind == .unary
        case .connectStream: kind != .unary
        case .grpcWeb, .grpcWebText: true
        }
    }
}

extension MessageCodec {
    /// `nil` where the server has no schema for JSON.
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
