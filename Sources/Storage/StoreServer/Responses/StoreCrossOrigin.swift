import HTTPTypes
import StoreProtocol

/// The permissions of scripts of other origins in a browser (the Fetch standard, section 3.2, CORS protocol). Requests are signed
/// like any other, so this permits nothing beyond the credentials.
struct StoreCrossOrigin {
    static let methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
    /// The fields of responses that scripts may read beside those of the protocols.
    static let exposed = [
        "Accept-Ranges", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
        "Content-Range",
        "ETag", "Last-Modified",
    ]
    /// The time in seconds for which a browser may cache the response to a preflight.
    static let maximumAge = "600"

    /// The value of Access-Control-Allow-Origin; `nil` if the request's origin has no permission, or has not told itself.
    private let allowed: String?
    private let requestFields: HTTPFields

    /// `nil` if no origin is configured.
    ///
    /// - Parameter origins: e.g. `https://viewer.example.com`; `*` = all.
    init?(_ head: HTTPRequestHead, origins: [String]) {
        guard !origins.isEmpty else { return nil }
        allowed = origins.contains("*") ? "*" : head.fields["origin"].flatMap { origins.contains($0) ? $0 : nil }
        requestFields = head.fields
    }

    /// Returns the additional fields of a response. Those without permission depend on the origin as well: a browser would take one
    /// from its cache for a script that has it.
    ///
    /// - Parameter fields: of the response; scripts may read the metadata and the checksums that it has.
    func fields(of fields: HTTPFields) -> HTTPFields {
        var additional: HTTPFields = [:]
        if let allowed {
            let own = fields.fields.map(\.name).filter { $0.hasPrefix("x-amz-") || $0.hasPrefix("x-oss-") }
            additional.append("Access-Control-Allow-Origin", allowed)
            additional.append("Access-Control-Expose-Headers", (Self.exposed + own).joined(separator: ", "))
        }
        if allowed != "*" { additional.append("Vary", "Origin") }
        return additional
    }

    /// The fields of the response to OPTIONS beside those of every response; `nil` if its origin has no permission or it asks for
    /// a method that the store does not have.
    var preflight: HTTPFields? {
        guard allowed != nil, let method = requestFields["access-control-request-method"], Self.methods.contains(method)
        else {
            return nil
        }
        var fields: HTTPFields = [
            "Access-Control-Allow-Methods": Self.methods.joined(separator: ", "),
            "Access-Control-Max-Age": Self.maximumAge,
            "Vary": "Access-Control-Request-Method, Access-Control-Request-Headers",
        ]
        if let names = requestFields["access-control-request-headers"] {
            fields.append("Access-Control-Allow-Headers", names)
        }
        return fields
    }
}
