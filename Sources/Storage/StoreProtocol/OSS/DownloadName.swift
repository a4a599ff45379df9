/// The name and type that a presigned GET gives to what it downloads.
package struct DownloadName: Sendable, Hashable {
    /// A file name without a directory.
    package let fileName: String
    /// E.g. `video/mp4`; `nil` = as the object was stored.
    package let contentType: String?

    package init(fileName: String, contentType: String? = nil) {
        self.fileName = fileName
        self.contentType = contentType
    }

    /// `Content-Disposition` for a file that is saved under the name: in UTF-8, percent-encoded, with a form of ASCII before
    /// it for clients that do not read the other (RFC 6266, sections 4.3 and 5; RFC 8187).
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

    /// The query parameters that ask for it.
    package var parameters: [(name: String, value: String)] {
        [("response-content-disposition", contentDisposition)]
            + (contentType.map { [("response-content-type", $0)] } ?? [])
    }
}
