import Foundation

/// The parts of a form, with the bytes that Alamofire sends for them.
public final class MultipartFormData {
    let boundary = String(
        format: "alamofire.boundary.%08x%08x", UInt32.random(in: .min ... .max), UInt32.random(in: .min ... .max))
    private var body = Data()
    private let types = ["jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml"]

    /// Adds a text.
    public func append(_ data: Data, withName name: String) {
        append(data, header: "Content-Disposition: form-data; name=\"\(name)\"\r\n")
    }

    /// Adds a file, with its name and the type of its extension.
    public func append(_ file: URL, withName name: String) {
        let type = types[file.pathExtension] ?? "application/octet-stream"
        append(
            (try? Data(contentsOf: file)) ?? Data(),
            header: "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(file.lastPathComponent)\"\r\n"
                + "Content-Type: \(type)\r\n")
    }

    var encoded: Data { body + Data("\r\n--\(boundary)--\r\n".utf8) }

    private func append(_ data: Data, header: String) {
        body += Data("\(body.isEmpty ? "" : "\r\n")--\(boundary)\r\n\(header)\r\n".utf8) + data
    }
}
