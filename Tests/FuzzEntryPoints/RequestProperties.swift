import Basics
import HTTPServer
import HTTPTypes
import StoreProtocol

/// Properties of the checks of requests, and of the targets of the object store.
enum RequestProperties {
    /// Targets in each form, and header sections for each rule that rejects requests. The first line is the target, the others are
    /// header fields.
    static let seeds: [[UInt8]] =
        [
            "/bucket/a%2Fb/c?partNumber=1&uploadId=x\nHost: h\nContent-Length: 10",
            "/a/b?x&y=+&z=%C3%A9\nHost: bucket.example.com",
            "/?list-type=2&prefix=a%20b\nHost: h\nTransfer-Encoding: chunked",
            "http://h:80/bucket?x\nHost: g\nExpect: 100-continue",
            "https://[::1]:443/b-1/k\nHost: h", "*\nHost: h", "/b-1/k", "/b-1/%zz\nHost: h", "/b-1/%FF\nHost: h",
            "/B_/k\nHost: h",
            "/b-1/k\nHost: h\nHost: h", "/b-1/k\nHost: h\nContent-Length: 1\nTransfer-Encoding: chunked",
            "/b-1/k\nHost: h\nContent-Length: +1", "/b-1/k\nHost: h\nTransfer-Encoding: gzip",
            "/b-1/k\nHost: h\nExpect: x", "/b-1/k\nHo st: h",
            "/192.168.1.1/k\nHost: h", "//k\nHost: h", "/bucket//a/../b\nHost: h", "/bucket/k#f\nHost: h",
        ].map { Array($0.utf8) }

    /// Checks that what is admitted has one framing and is within the limits, and that a target is the same after it was written.
    static func check(_ input: [UInt8]) {
        var lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let target = lines.removeFirst()
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
            fields.append(String(line[..<colon]), String(line[line.utf8.index(after: colon)...].drop { $0 == " " }))
        }
        checkAdmission(target, fields)
        checkTarget(target, fields["host"] ?? "")
    }

    private static func checkAdmission(_ target: String, _ fields: HTTPFields) {
        let validator = RequestValidator()
        guard let framing = try? validator.admit(target: target, fields: fields, version: "HTTP/1.1") else { return }
        precondition(fields.values(of: "host").count == 1, "a request without one host is admitted")
        let (lengths, encodings) = (fields.values(of: "content-length"), fields.values(of: "transfer-encoding"))
        precondition(lengths.count + encodings.count <= 1, "a request with two framings is admitted")
        switch framing {
        case .none: precondition(encodings.isEmpty, "the body of a request is passed over")
        case .length(let length):
            precondition(length > 0 && lengths.first.flatMap { Int64($0) } == length, "a body has another length")
        case .chunked: precondition(encodings.count == 1, "a body in chunks has no transfer encoding")
        }
        let size = fields.fields.reduce(target.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        precondition(size <= validator.maximumBytes, "a request that is too large is admitted")
    }

    private static func checkTarget(_ text: String, _ host: String) {
        guard let target = try? RequestTarget(text, host: host, domains: ["example.com"]) else { return }
        precondition(target.parameters.allSatisfy { !$0.name.isEmpty }, "a parameter has no name")
        guard let bucket = target.bucket else {
            precondition(target.key == nil, "a key has no bucket")
            return
        }
        precondition(ObjectName.isBucket(bucket), "a bucket has an invalid name")
        let query = target.parameters.map { "\(URLEncoding.encode($0.name))=\(URLEncoding.encode($0.value))" }
        let key = target.key.map { "/" + URLEncoding.encode($0, keepingSlashes: true) } ?? ""
        let written = "/\(bucket)\(key)?\(query.joined(separator: "&"))"
        guard let again = try? RequestTarget(written, host: "h", domains: []) else {
            fatalError("a target is refused as it was written")
        }
        precondition(again.bucket == bucket && again.key == target.key, "a target is not read as it was written")
        precondition(again.parameters == target.parameters, "parameters are not read as they were written")
    }
}
