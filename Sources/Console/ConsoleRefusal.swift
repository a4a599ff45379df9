import HTTPTypes
import Wire

/// A refusal of a request to the console, sent in the form of a Connect error.
struct ConsoleRefusal {
    let status: Int
    let error: ConnectError
    var fields: HTTPFields = [:]

    static let notFound = ConsoleRefusal(404, .notFound, "the console has no such resource")
    static let crossSite = ConsoleRefusal(
        403, .permissionDenied, "only the console's own pages may make this request (Sec-Fetch-Site: same-origin)")
    static let signedOut = ConsoleRefusal(401, .unauthenticated, "the session has ended")
    static let token = ConsoleRefusal(
        403, .permissionDenied, "the session's token is missing or wrong (X-Console-Token)")
    static let ticket = ConsoleRefusal(404, .notFound, "the address was already used, or has expired")
    static let content = ConsoleRefusal(404, .notFound, "the object cannot be read: it was deleted or is corrupted")
    static let signInElsewhere = ConsoleRefusal(
        401, .unauthenticated, "this sign-in was begun in another browser, or took too long: begin it again")
    static let tooManySessions = ConsoleRefusal(
        503, .unavailable,
        "as many organizations have a console session as there may be sessions (console.max_sessions): try again later")
    static let unavailable = ConsoleRefusal(
        503, .unavailable, "the gateway cannot read or write its sessions now: try again later")
    static let failure = ConsoleRefusal(500, .internalError, "the gateway failed")

    static func malformed(_ form: String) -> ConsoleRefusal {
        ConsoleRefusal(400, .invalidArgument, "the request must be \(form)")
    }

    /// A conflict with another request; the same request may succeed later.
    static func aborted(_ message: String) -> ConsoleRefusal { ConsoleRefusal(409, .aborted, message) }

    /// A refusal by the object store, or by a REST route of the gateway.
    ///
    /// - Parameter status: the status of its response.
    static func passedOn(_ status: Int, _ message: String) -> ConsoleRefusal {
        switch status {
        case 404: ConsoleRefusal(404, .notFound, message)
        case 400, 409, 411, 412, 413: ConsoleRefusal(409, .failedPrecondition, message)
        case 500...: ConsoleRefusal(503, .unavailable, message)
        default: ConsoleRefusal(403, .permissionDenied, message)
        }
    }

    static func method(_ allowed: String) -> ConsoleRefusal {
        ConsoleRefusal(405, .unknown, "the HTTP method must be \(allowed)", ["Allow": allowed])
    }

    private init(_ status: Int, _ code: StatusCode, _ message: String, _ fields: HTTPFields = [:]) {
        self.status = status
        error = ConnectError(code, message)
        self.fields = fields
    }
}

extension HTTPDisposition {
    static func refuse(_ refusal: ConsoleRefusal) -> HTTPDisposition { .respond(.refusal(refusal)) }
}

/// The error of a REST route of the gateway.
struct RouteFailure: JSONDocument {
    static let form = #"{"error": {"message": …}}"#

    private struct Reason: Decodable {
        let message: String
    }

    private let error: Reason

    var message: String { error.message }
}
