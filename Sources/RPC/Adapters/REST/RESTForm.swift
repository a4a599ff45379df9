import Basics
import GRPCWire
import Protobuf
import REST

/// The common properties of the responses of one call over REST.
struct RESTForm {
    let route: RESTRoute
    /// The name of the system that defines the reasons of errors.
    let domain: String
    /// The source of the time in envelopes.
    let clock: any WallClock
    /// The compression of responses that the client accepts; `nil` = none.
    var accepted: MessageEncoding?
    /// Fields of every response that let a page of another origin read it.
    var crossOrigin: ResponseSection.Fields
    /// Whether the request was HEAD, so that the response has no body.
    var omitsBody = false

    /// Returns the status of a successful response: the handler's, or the one that the method declares.
    func status(_ context: CallContext) -> Int {
        context.httpStatus == 200 ? route.response.status : context.httpStatus
    }

    /// Returns the header section of a successful response. A handler's field replaces one with the same name.
    func head(_ own: [(name: String, value: String)], _ context: CallContext) -> ResponseSection {
        let metadata = context.leadingMetadata
        let fields = own.filter { metadata[$0.name] == nil } + metadata.pairs
        return .made(status: status(context), ResponseSection.fields(fields) + crossOrigin)
    }

    /// Returns the body of a response that is one message, and its content type if the message defines it.
    func body(of message: ArraySlice<UInt8>) throws(RPCError) -> (bytes: [UInt8], contentType: String?) {
        var body = try route.body(of: message)
        if route.style.errors == .envelope, route.respondsInJSON {
            body.bytes = RESTEnvelope.success(body.bytes, at: clock.now())
        }
        return body
    }

    /// Returns a complete error response.
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

    /// - Parameter more: fields in addition to the error's own.
    static func reply(
        _ failure: RESTFailure, _ style: RESTStyle, _ more: ResponseSection.Fields
    ) -> ResponsePart {
        let status = failure.httpStatus(style)
        var fields = [("content-type", RESTRoute.json)]
        if let milliseconds = failure.retryAfterMilliseconds {
            fields.append(("retry-after", "\((milliseconds + 999) / 1000)"))
            fields.append(("retry-after-ms", "\(milliseconds)"))
        }
        return ResponsePart(
            head: .made(status: status, ResponseSection.fields(fields) + more), body: failure.json(style), end: .body)
    }
}

extension RPCError {
    func restFailure(_ domain: String) -> RESTFailure {
        var failure = RESTFailure(
            status, sentMessage, reason: detail?.rawValue, domain: domain,
            retryAfterMilliseconds: retryAfterMilliseconds, httpStatus: isTooLarge ? 413 : nil)
        failure.field = field
        if detail != nil { failure.metadata = metadata }
        return failure
    }
}
