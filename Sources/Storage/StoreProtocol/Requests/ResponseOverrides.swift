import Basics
package import HTTPTypes

/// The response header fields that the signer of a GET chooses: the query parameters `response-content-type` and so on, which OSS
/// and S3 have in common (S3's GetObject, "Overriding response header values").
package struct ResponseOverrides: Sendable, Equatable {
    /// The longest value, so that it fits beside the other fields of a response.
    package static let longestValue = 1024

    private static let names: [(parameter: String, field: String)] = [
        ("response-cache-control", "Cache-Control"),
        ("response-content-disposition", "Content-Disposition"),
        ("response-content-encoding", "Content-Encoding"),
        ("response-content-language", "Content-Language"),
        ("response-content-type", "Content-Type"),
        ("response-expires", "Expires"),
    ]

    /// The fields by name; empty if the request has none of the parameters.
    package let fields: HTTPFields

    /// Whether a browser saves the object, which is the default unless another disposition was chosen (RFC 6266, section 4.2).
    package var isAttachment: Bool { Self.isAttachment(fields["content-disposition"]) }

    /// - Parameter disposition: `nil` if none was chosen.
    package static func isAttachment(_ disposition: String?) -> Bool {
        guard let type = disposition?.prefix(while: { $0 != ";" }) else { return true }
        return type.lowercased().filter { $0 != " " && $0 != "\t" } == "attachment"
    }

    /// - Throws: `invalidArgument` for a parameter that is repeated, or has a value that is invalid in a header field.
    package init(_ target: RequestTarget) throws(StoreError) {
        var fields: HTTPFields = [:]
        for (parameter, field) in Self.names where target.has(parameter) {
            guard let value = target[parameter], value.utf8.count <= Self.longestValue,
                value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else {
                throw StoreError(
                    .invalidArgument,
                    "\(parameter) must occur once and be at most \(Self.longestValue) bytes without control characters."
                )
            }
            if !value.isEmpty { fields.append(field, value) }
        }
        self.fields = fields
    }
}

/// The file name and type that a presigned GET assigns to the downloaded object.
package struct DownloadName: Sendable, Hashable {
    /// The file name without folders.
    package let fileName: String
    /// The type, e.g. `video/mp4`; `nil` = as stored.
    package let contentType: String?

    package init(fileName: String, contentType: String? = nil) {
        self.fileName = fileName
        self.contentType = contentType
    }

    /// The value of `Content-Disposition` for a file with that name: in percent-encoded UTF-8, preceded by an ASCII form for older
    /// clients (RFC 6266, sections 4.3 and 5; RFC 8187).
    package var contentDisposition: String {
        var plain = ""
        for scalar in fileName.unicodeScalars {
            let isPlain =
                scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F
                && !"\"\\%".unicodeScalars.contains(scalar)
            plain.unicodeScalars.append(isPlain ? scalar : "_")
        }
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(URLEncoding.encode(fileName))"
    }

    /// The query parameters that request it.
    package var parameters: [(name: String, value: String)] {
        [("response-content-disposition", contentDisposition)]
            + (contentType.map { [("response-content-type", $0)] } ?? [])
    }
}
