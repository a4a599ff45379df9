import HTTPTypes
import XML

/// The object store's response to a request for an upload's bytes, as the console sends it to its pages.
struct StoreReply: Encodable {
    /// The size of the largest response in bytes.
    private static let longest = 64 << 10

    /// The ETag of what was stored; empty = none.
    let etag: String
    /// The id of the new multipart upload; `nil` = none was begun.
    let multipartId: String?

    static func response(to response: HTTPResponse) -> HTTPResponse {
        let document: XMLElement? =
            switch response.body {
            case .bytes(let bytes): try? XMLElement(parsing: bytes, maximumBytes: longest)
            case .file, .stream, .omitted: nil
            }
        guard (200..<300).contains(response.status) else {
            return .refusal(.passedOn(response.status, document?["Message"] ?? "the object store refused the request"))
        }
        let etag = response.fields["etag"] ?? document?["ETag"] ?? ""
        return .console(json: StoreReply(etag: etag, multipartId: document?["UploadId"]))
    }
}
