import HTTPTypes
import StoreProtocol

/// The permissions of scripts of other origins in a browser (the Fetch standard, section 3.2, CORS protocol). Requests are signed
/// like any other, so this permits nothing beyond the credentials.
struct StoreCrossOrigin {
    static let methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
    /// The fields of responses that scripts may read: ranges, checksums, tags and metadata.
    private static let exposed = [
        "Accept-Ranges", "Content-Disposition", "Content-Encoding", "Content-Length", "Content-Range", "ETag",
        "Last-Modified", "x-amz-mp-parts-count", "x-amz-request-id", "x-oss-hash-crc64ecma",
        "x-oss-next-append-position", "x-oss-object-type", "x-oss-request-id",
    ].joined(separator: ", ")
    /// The time in seconds for which a browser may cache the response to a preflight.
    private static let maximumAge = "600"

    private let origin: String
    private let asked: HTTPFields

    /// `nil` if the request comes from the same origin, or from one that is not configured.
    ///
    /// - Parameter origins: e.g. `https://viewer.example.com`; `*` = all.
    init?(_ head: HTTPRequestHead, origins: [String]) {
        guard !origins.isEmpty, let origin = head.fields["origin"] else { return nil }
        if origins.contains("*") {
            self.origin = "*"
        } else if origins.contains(origin) {
            self.origin = origin
        } else {
            return nil
        }
        asked = head.fields
    }

    /// The fields of every response to the origin.
    var fields: HTTPFields {
        var fields: HTTPFields = [
            "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": Self.exposed,
        ]
        if origin != "*" { fields.append("Vary", "Origin") }
        return fields
    }

    /// The additional fields of the response to OPTIONS; `nil` if it asks for a method that the store does not have.
    var preflight: HTTPFields? {
        guard let method = asked["access-control-request-method"], Self.methods.contains(method) else { return nil }
        var fields: HTTPFields = [
            "Access-Control-Allow-Methods": Self.methods.joined(separator: ", "),
            "Access-Control-Max-Age": Self.maximumAge,
        ]
        if let names = asked["access-control-request-headers"] { fields.append("Access-Control-Allow-Headers", names) }
        return fields
    }
}
