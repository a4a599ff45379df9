import GRPCWire
import HTTP2
import ProtobufJSON

/// The HTTP error for a request that is not a call.
struct HTTPRefusal: Error {
    let status: Int
    let reason: RefusedRequest.Reason
    let message: String
    var fields: [(name: String, value: String)] = []

    static func noMethod(_ path: some StringProtocol) -> HTTPRefusal {
        HTTPRefusal(
            status: 404, reason: .unknownMethod, message: "this listener has no method \(path.prefix(200))")
    }

    static func tooLarge(_ limits: HTTP2Settings) -> HTTPRefusal {
        let (bytes, fields) = (limits.maxHeaderListSize, limits.maxHeaderFields)
        return HTTPRefusal(
            status: 431, reason: .headerSize,
            message: "the header section exceeds the limit of \(bytes) bytes or \(fields) fields")
    }

    static func httpMethod(allowed: String) -> HTTPRefusal {
        HTTPRefusal(
            status: 405, reason: .httpMethod, message: "the HTTP method must be \(allowed)",
            fields: [("allow", allowed)])
    }

    /// - Parameter offered: the media types that the method accepts.
    static func contentType(offered: [String]) -> HTTPRefusal {
        let list = offered.joined(separator: ", ")
        return HTTPRefusal(
            status: 415, reason: .contentType, message: "the content type must be one of \(list)",
            fields: [("accept-post", list)])
    }

    func reply(_ crossOrigin: ResponseSection.Fields) -> ResponsePart {
        // The status that clients derive from the HTTP status without JSON (Connect protocol, "HTTP to Error Code").
        let error = RPCError(bare: status == 404 ? .unimplemented : .unknown, message)
        return ConnectUnaryEncoder.failure(error, status: status, ResponseSection.fields(fields) + crossOrigin)
    }
}
