package import Basics
package import GRPCWire
import JSON
package import Protobuf

/// An error in the form of a REST response, in one of the shapes that services can choose.
package struct RESTFailure: Sendable {
    package var status: StatusCode
    package var message: String
    /// The code for clients, in capital letters; `nil` = the status's name.
    package var reason: String?
    /// The name of the system that defines the reason.
    package var domain: String
    /// The time after which a retry can succeed; `nil` = not stated.
    package var retryAfterMilliseconds: Int?
    /// The HTTP status if it differs from that of `status`.
    package var specialHTTPStatus: Int?
    /// Values for programs that belong to the reason (AIP-193, `ErrorInfo.metadata`).
    package var metadata: [String: String] = [:]
    /// The field of the request that violates a rule.
    package var field: String?

    package init(
        _ status: StatusCode, _ message: String, reason: String? = nil, domain: String = "",
        retryAfterMilliseconds: Int? = nil, httpStatus: Int? = nil
    ) {
        self.status = status
        self.message = message
        self.reason = reason
        self.domain = domain
        self.retryAfterMilliseconds = retryAfterMilliseconds
        specialHTTPStatus = httpStatus
    }

    /// Returns the HTTP status of the response.
    package func httpStatus(_ style: RESTStyle) -> Int {
        let own = specialHTTPStatus ?? status.httpStatus
        return style.failureStatus == 0 || own == 401 ? own : style.failureStatus
    }

    package func json(_ style: RESTStyle) -> [UInt8] {
        var output = JSONObjectWriter()
        switch style.errors {
        case .status:
            output.object("error") { error in
                error.number("code", specialHTTPStatus ?? status.httpStatus)
                error.text("message", message)
                error.text("status", status.name)
                details(&error)
            }
        case .nested:
            output.object("error") { error in
                error.text("code", reason ?? nestedCode)
                error.text("message", message)
                if let field { error.text("details", field) }
            }
        case .http:
            let code = httpStatus(style)
            if code == 400 { output.texts("message", [message]) } else { output.text("message", message) }
            output.text("error", Self.phrase(code))
            output.number("statusCode", code)
        case .codeMsg:
            output.number("code", -1)
            output.text("msg", message)
        case .message:
            output.text("message", message)
        case .envelope:
            output.bool("success", false)
            output.number("statusCode", httpStatus(style))
            output.text("message", message)
            output.text("errorCode", nestedCode)
        }
        return output.finished
    }

    /// Writes the details of AIP-193, which requires an ErrorInfo in every error.
    private func details(_ error: inout JSONObjectWriter) {
        error.array("details") { details in
            details.object { info in
                info.text("@type", "type.googleapis.com/google.rpc.ErrorInfo")
                info.text("reason", reason ?? status.name)
                info.text("domain", domain)
                guard !metadata.isEmpty else { return }
                info.object("metadata") { values in
                    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) { values.text(name, value) }
                }
            }
            guard let milliseconds = retryAfterMilliseconds else { return }
            details.object { info in
                info.text("@type", "type.googleapis.com/google.rpc.RetryInfo")
                info.text("retryDelay", Self.seconds(milliseconds))
            }
        }
    }

    private static func seconds(_ milliseconds: Int) -> String {
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds / 1000).\(fraction)s"
    }

    /// The code in the shape `NESTED` of an error without its own, and in the shape of envelopes.
    private var nestedCode: String {
        switch specialHTTPStatus {
        case 405: "METHOD_NOT_ALLOWED"
        case 413: "PAYLOAD_TOO_LARGE"
        case 415: "UNSUPPORTED_MEDIA_TYPE"
        default: status.nestedCode
        }
    }

    /// Returns the reason phrase (RFC 9110, section 15).
    private static func phrase(_ code: Int) -> String {
        switch code {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 499: "Client Closed Request"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Error"
        }
    }
}

extension StatusCode {
    /// The code in the shape `NESTED` for an error without its own, and in the shape of envelopes.
    fileprivate var nestedCode: String {
        switch self {
        case .invalidArgument: "INVALID_REQUEST"
        case .resourceExhausted: "RATE_LIMITED"
        case .internalError: "SERVER_ERROR"
        default: name
        }
    }
}

/// The JSON of a successful response in the form ``RESTStyle/Errors/envelope``.
package enum RESTEnvelope {
    /// - Parameter json: the response without an envelope.
    package static func success(_ json: [UInt8], at time: UnixTime) -> [UInt8] {
        var output = JSONObjectWriter()
        output.bool("success", true)
        output.value("data", json: json)
        output.text("timestamp", RFC3339.milliseconds(time))
        return output.finished
    }
}
