import Wire

extension RequestHead {
    /// Finds the route of a request whose path is no method's own, and the adapter of REST for it.
    ///
    /// - Returns: `nil` where the path is not REST's.
    mutating func adaptREST(
        path: Substring, query: Substring, _ server: RPCServer
    ) throws(RequestRefusal) -> AdaptedCall? {
        guard let routes = server.rest, routes.owns(path.utf8) else { return nil }
        let origin = metadata["origin"]
        let matches = RoutePath(path.utf8).map { routes.matches($0) } ?? []
        var crossOrigin = server.crossOrigin?.fields(origin: origin) ?? []
        if httpMethod == "OPTIONS", !matches.isEmpty {
            let allowed = matches.allowed
            if metadata["access-control-request-method"] != nil {
                crossOrigin = server.crossOrigin?.preflightFields(origin: origin, methods: allowed) ?? crossOrigin
            }
            let head = ResponseSection.fields([("allow", allowed)]) + crossOrigin
            throw RequestRefusal(response: ResponsePart(head: .made(status: 200, head), end: .head), reason: nil)
        }
        guard let route = matches.route(httpMethod), let path = RoutePath(path.utf8) else {
            throw refusal(matches, crossOrigin, server.errors.domain)
        }
        guard route.accepts(contentType) else {
            let list = route.bodyTypes.joined(separator: ", ")
            throw refusal(
                RESTFailure(
                    .invalidArgument, "the content type must be one of \(list)", domain: server.errors.domain,
                    httpStatus: 415),
                .contentType, route.style, ResponseSection.fields([("accept", list)]) + crossOrigin)
        }
        return call(of: route, path, query, crossOrigin, server)
    }

    private func refusal(
        _ matches: [RESTRoute], _ crossOrigin: ResponseSection.Fields, _ domain: String
    ) -> RequestRefusal {
        guard let first = matches.first else {
            return refusal(
                RESTFailure(.notFound, "this listener has no such path", domain: domain), .unknownMethod, RESTStyle(),
                crossOrigin)
        }
        let allowed = matches.allowed
        return refusal(
            RESTFailure(.unimplemented, "the HTTP method must be one of \(allowed)", domain: domain, httpStatus: 405),
            .httpMethod, first.style, ResponseSection.fields([("allow", allowed)]) + crossOrigin)
    }

    private func refusal(
        _ failure: RESTFailure, _ reason: RefusedRequest.Reason, _ style: RESTStyle, _ fields: ResponseSection.Fields
    ) -> RequestRefusal {
        var response = RESTForm.reply(failure, style, fields)
        // RFC 9110, section 9.3.2.
        if httpMethod == "HEAD" { response.body = [] }
        return RequestRefusal(response: response, reason: reason)
    }

    private mutating func call(
        of route: RESTRoute, _ path: RoutePath, _ query: Substring, _ crossOrigin: ResponseSection.Fields,
        _ server: RPCServer
    ) -> AdaptedCall {
        let form = RESTForm(
            route: route, domain: server.errors.domain,
            accepted: MessageEncoding.accepted(metadata["accept-encoding"] ?? "").first, crossOrigin: crossOrigin,
            omitsBody: httpMethod == "HEAD")
        var codec = MessageCodec.proto
        var fault = readRESTFields()
        do throws(RPCError) {
            codec = .rest(try RESTRequestReader(route, path: path, query: query.utf8, contentType: contentType))
        } catch {
            fault = error
        }
        let limit = server.limit(of: route.method)
        let request: RequestDecoder
        if route.kind == .clientStreaming {
            if encoding != nil { fault = .unimplemented("the body of this request cannot be compressed") }
            request = .pieces(PieceDecoder(limit: limit))
        } else {
            request = .wholeBody(WholeBodyDecoder(limit: limit, isCompressed: encoding != nil))
        }
        let response: any ResponseEncoder =
            route.kind == .serverStreaming ? RESTStreamEncoder(form, framing: framing(of: route)) : RESTEncoder(form)
        return AdaptedCall(
            method: route.method, adapter: CallProtocolAdapter(codec: codec, request: request, response: response),
            fault: fault)
    }

    private func framing(of route: RESTRoute) -> RESTStreamEncoder.Framing {
        switch route.responseBody {
        case .bytes, .httpBody: .raw
        case .message, .field:
            metadata.values("accept").contains { $0.lowercased().contains("text/event-stream") } ? .events : .lines
        }
    }

    /// Reads the fields that say how long the client waits, and how the body is compressed.
    ///
    /// - Returns: what is wrong with them.
    private mutating func readRESTFields() -> RPCError? {
        let badTimeout = fault == .badTimeout
        (encoding, fault) = (nil, .none)
        if let text = metadata["connect-timeout-ms"] {
            timeout = ConnectTimeout.parse(text)
            if timeout == nil { return .invalidRequest("connect-timeout-ms must be 1 to 10 digits") }
        } else if badTimeout {
            return .invalidRequest("grpc-timeout must be 1 to 8 digits and one of n, u, m, S, M, H")
        }
        guard let name = metadata["content-encoding"], !name.isEmpty, name != "identity" else { return nil }
        encoding = MessageEncoding(rawValue: name)
        return encoding == nil ? .unimplemented("content-encoding must be identity, gzip or deflate") : nil
    }
}
