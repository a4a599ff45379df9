import Basics
import Crypto
import HTTPTestClient
import HTTPTypes

@testable import ObjectStore
@testable import StoreProtocol

/// Signs requests with version 4 of OSS's or AWS's signature, and sends each on a connection of its own.
struct StoreClient {
    enum Dialect {
        case oss, s3
    }

    let port: UInt16
    var claims: CredentialClaims
    var credentials: TemporaryCredentials
    let clock: ManualClock
    var dialect = Dialect.oss
    /// The region in the signature's scope.
    var region = ""

    var path: String { "/\(claims.bucket)/\(claims.key)" }

    /// Returns the header section, including the empty line.
    func head(
        _ method: String, query: String = "", length: Int?, fields extra: [String: String] = [:],
        path: String? = nil, host: String? = nil
    ) throws -> String {
        let target = (path ?? self.path) + (query.isEmpty ? "" : "?\(query)")
        let date = Timestamps.basic(clock.now())
        let prefix = dialect == .oss ? "x-oss-" : "x-amz-"
        var fields: HTTPFields = [
            "\(prefix)date": date, "\(prefix)security-token": credentials.securityToken,
            "Host": host ?? "127.0.0.1:\(port)",
        ]
        if extra["\(prefix)content-sha256"] == nil { fields.append("\(prefix)content-sha256", "UNSIGNED-PAYLOAD") }
        for (name, value) in extra { fields.append(name, value) }
        let request = SignedRequest(
            method: method, target: try RequestTarget(target, host: "", domains: []), fields: fields)
        fields.append("Authorization", authorization(request, date: date))
        if let length { fields.append("Content-Length", String(length)) }
        return "\(method) \(target) HTTP/1.1\r\n"
            + fields.fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    private func authorization(_ request: SignedRequest, date: String) -> String {
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: region)
        switch dialect {
        case .oss:
            let scheme = OSSSignatureV4(scope: scope, date: date, signedFields: [])
            let code = Hex.lower(scheme.signatures(of: request, secret: credentials.secret)[0])
            let credential = "\(credentials.accessKeyID)/\(SignatureV4.oss.text(of: scope))"
            return "OSS4-HMAC-SHA256 Credential=\(credential),Signature=\(code)"
        case .s3:
            let names = Set(request.fields.fields.map(\.name)).subtracting(["expect"]).sorted()
            let scheme = S3Signature(
                scope: scope, date: date, signedFields: names, payload: request.fields["x-amz-content-sha256"] ?? "",
                otherHosts: [])
            let code = Hex.lower(scheme.signatures(of: request, secret: credentials.secret)[0])
            let credential = "\(credentials.accessKeyID)/\(SignatureV4.s3.text(of: scope))"
            let list = names.joined(separator: ";")
            return "AWS4-HMAC-SHA256 Credential=\(credential), SignedHeaders=\(list), Signature=\(code)"
        }
    }

    func send(
        _ method: String, query: String = "", body: [UInt8]? = nil, fields: [String: String] = [:], path: String? = nil
    ) throws -> RawConnection.Response {
        let connection = try RawConnection(port: port)
        try connection.send(head(method, query: query, length: body?.count, fields: fields, path: path))
        if let body { try connection.send(body) }
        return try connection.response(toHead: method == "HEAD")
    }

    func put(_ body: [UInt8], fields: [String: String] = [:]) throws -> RawConnection.Response {
        try send("PUT", body: body, fields: fields)
    }

    func initiate() throws -> String {
        let response = try send("POST", query: "uploads")
        return try response.element("UploadId")
    }

    func part(
        _ number: Int, of id: String, _ body: [UInt8], fields: [String: String] = [:]
    ) throws -> RawConnection.Response {
        try send("PUT", query: "partNumber=\(number)&uploadId=\(id)", body: body, fields: fields)
    }

    func complete(_ id: String, _ parts: [(Int, String)]) throws -> RawConnection.Response {
        let items = parts.map { "<Part><PartNumber>\($0)</PartNumber><ETag>\($1)</ETag></Part>" }.joined()
        return try send(
            "POST", query: "uploadId=\(id)",
            body: Array("<CompleteMultipartUpload>\(items)</CompleteMultipartUpload>".utf8))
    }

    func completeAll(_ id: String) throws -> RawConnection.Response {
        try send("POST", query: "uploadId=\(id)", body: [], fields: ["x-oss-complete-all": "yes"])
    }

    func get() throws -> [UInt8] {
        try send("GET").body
    }

    static func md5(_ body: [UInt8]) -> String {
        Base64.encode(Digest.md5(body))
    }
}

extension RawConnection.Response {
    struct Missing: Error {
        let name: String
        let text: String
    }

    /// Returns the text of an element of the response's document.
    func element(_ name: String) throws -> String {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { throw Missing(name: name, text: text) }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// The status and the code of an error.
    var error: String {
        "\(status) \((try? element("Code")) ?? "")"
    }

    /// Returns the text of every element of that name.
    func elements(_ name: String) -> [String] {
        text.split(separator: "<\(name)>").dropFirst().map { String($0.prefix { $0 != "<" }) }
    }
}
