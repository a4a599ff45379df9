import Wire

/// What the responses of one call over REST have in common.
struct RESTForm {
    let route: RESTRoute
    /// The name of the system whose reasons failures tell.
    let domain: String
    /// How responses may be compressed; `nil` = not.
    var accepted: MessageEncoding?
    /// Fields of every response: what lets a page of another origin read it.
    var crossOrigin: ResponseSection.Fields
    /// The request was HEAD: the response has no body.
    var omitsBody = false

    /// The header section of a response that is no failure. A handler's own field goes before one of the same name.
    func head(_ own: [(name: String, value: String)], _ context: CallContext) -> ResponseSection {
        let metadata = context.leadingMetadata
        let fields = own.filter { metadata[$0.name] == nil } + metadata.pairs
        return .made(status: 200, ResponseSection.fields(fields) + crossOrigin)
    }

    /// A response that tells of a failure, whole.
    func failure(_ error: RPCError, _ context: CallContext) -> ResponsePart {
        var part = Self.reply(error.restFailure(domain), route.style, crossOrigin)
        if case .made(let status, let fields) = part.head {
            let more = context.leadingMetadata.pairs.filter { $0.name != "content-type" } + Self.trailers(context)
            part.head = .made(status: status, fields + ResponseSection.fields(more))
        }
        if omitsBody { part.body = [] }
        return part
    }

    static func trailers(_ context: CallContext) -> [(name: String, value: String)] {
        context.trailingMetadata.pairs.map { ("trailer-\($0.name)", $0.value) }
    }

    /// - Parameter more: fields beside the failure's own.
    static func reply(
        _ failure: RESTFailure, _ style: RESTStyle, _ more: ResponseSection.Fields
    ) -> ResponsePart {
        let status = failure.httpStatus(style)
        var fields = [("content-type", RESTRoute.json)]
        if let milliseconds = failure.retryAfterMilliseconds {
            fields.append(("retry-after", "\((milliseconds + 999) / 1000)"))
            fields.append(("retry-after-ms", "\(milliseconds)"))
        }
        // RFC 9110, section 11.6.1.
        if status == 401 { fields.append(("www-authenticate", "Bearer")) }
        return ResponsePart(
            head: .made(status: status, ResponseSection.fields(fields) + more), body: failure.json(style), end: .body)
    }
}

extension RPCError {
    func restFailure(_ domain: String) -> RESTFailure {
        RESTFailure(
            status, sentMessage, reason: detail?.rawValue, domain: domain,
            retryAfterMilliseconds: retryAfterMilliseconds)
    }
}
