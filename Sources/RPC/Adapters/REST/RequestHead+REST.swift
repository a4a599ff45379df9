import GRPCWire
import Protobuf
import ProtobufJSON
import REST

extension RequestHead {
    /// Finds the REST route of a request whose path is not a method's, and the adapter for it.
    ///
    /// - Returns: `nil` if the path does not belong to REST.
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
            throw refusal(matches, routes.style(of: path.utf8), crossOrigin, server.errors.domain)
        }
        guard route.accepts(contentType) else {
            let list = route.bodyTypes.joined(separator: ", ")
            throw refusal(
                RESTFailure(
                    .invalidArgument, "the content type must be one of \(list)", domain: server.errors.domain,
                    httpStatus: 415),
                .contentType, route.style, ResponseSection.fields([("accept", list)]) + crossOrigin)
        }
        guard !isUnaskedPage(route, server) else {
            throw refusal(
                RESTFailure(
                    .permissionDenied, "a web page of another origin must send the content type \(RESTRoute.json)",
                    domain: server.errors.domain), .contentType, route.style, crossOrigin)
        }
        return call(of: route, path, query, crossOrigin, server)
    }

    /// Whether the request is one that a browser lets any page make without asking for permission (Fetch standard, "CORS-safelisted
    /// method" and "CORS-safelisted request-header"). Calls that need no token must not be open to all pages that their users see.
    private func isUnaskedPage(_ route: RESTRoute, _ server: RPCServer) -> Bool {
        guard httpMethod == "POST", !route.style.takesForms, !route.style.sniffsJSON, let origin = metadata["origin"],
            server.crossOrigin?.allows(origin) != true
        else { return false }
        return ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
            .contains(RESTRoute.mediaType(contentType))
    }

    private func refusal(
        _ matches: [RESTRoute], _ style: RESTStyle, _ crossOrigin: ResponseSection.Fields, _ domain: String
    ) -> RequestRefusal {
        guard let first = matches.first else {
            return refusal(
                RESTFailure(.notFound, "this listener has no such path", domain: domain), .unknownMethod, style,
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
        // A response to HEAD has no body (RFC 9110, section 9.3.2).
        if httpMethod == "HEAD" { response.body = [] }
        return RequestRefusal(response: response, reason: reason)
    }

    private mutating func call(
        of route: RESTRoute, _ path: RoutePath, _ query: Substring, _ crossOrigin: ResponseSection.Fields,
        _ server: RPCServer
    ) -> AdaptedCall {
        let form = RESTForm(
            route: route, domain: server.errors.domain, clock: server.clock,
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
        } else if route.style.takesForms {
            let body = SpooledBody(directory: server.limits.spoolDirectory, limit: limit)
            request = .spooled(body, isCompressed: encoding != nil)
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
        guard route.respondsInJSON else { return .raw }
        return metadata.values("accept").contains { $0.lowercased().contains("text/event-stream") } ? .events : .lines
    }

    /// Reads the fields with the timeout and the body's compression.
    ///
    /// - Returns: their error, if any.
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
