import HTTPTypes
import StoreProtocol

/// What scripts of other origins may do with the store in a browser (the Fetch standard, section 3.2, CORS protocol).
/// Requests are signed like any other: this opens nothing that the credentials do not.
struct StoreCrossOrigin {
    static let methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
    /// Fields of answers that viewers read: ranges, checksums, tags and metadata.
    private static let exposed = [
        "Accept-Ranges", "Content-Disposition", "Content-Encoding", "Content-Length", "Content-Range", "ETag",
        "Last-Modified", "x-amz-mp-parts-count", "x-amz-request-id", "x-oss-hash-crc64ecma",
        "x-oss-next-append-position", "x-oss-object-type", "x-oss-request-id",
    ].joined(separator: ", ")
    /// Seconds for which a browser asks no more.
    private static let maximumAge = "600"

    private let origin: String
    private let asked: HTTPFields

    /// `nil` where the request comes from no other origin, or from one that is not configured.
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

    /// The fields that every answer to it has.
    var fields: HTTPFields {
        var fields: HTTPFields = [
            "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": Self.exposed,
        ]
        if origin != "*" { fields.append("Vary", "Origin") }
        return fields
    }

    /// The further fields of the answer to OPTIONS; `nil` where it asks for a method that the store does not have.
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
