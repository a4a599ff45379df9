import Basics

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
