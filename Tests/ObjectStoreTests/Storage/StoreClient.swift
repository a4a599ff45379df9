import HTTPTestClient
import Network
import Platform

@testable import ObjectStore

/// Signs requests with version 4 and sends each on a connection of its own.
struct StoreClient {
    let port: UInt16
    var claims: CredentialClaims
    var credentials: TemporaryCredentials
    let clock: ManualClock

    var path: String { "/\(claims.bucket)/\(claims.key)" }

    /// The lines before the body, with an empty line behind them.
    func head(
        _ method: String, query: String = "", length: Int?, fields extra: [String: String] = [:], path: String? = nil
    ) throws -> String {
        let target = (path ?? self.path) + (query.isEmpty ? "" : "?\(query)")
        let date = Timestamps.basic(clock.now())
        var fields: HTTPFields = [
            "x-oss-date": date, "x-oss-content-sha256": SignatureV4.payload,
            "x-oss-security-token": credentials.securityToken,
        ]
        for (name, value) in extra { fields.append(name, value) }
        let signature = SignatureV4(
            scope: .init(day: String(date.prefix(8)), region: ""), date: date, additionalFields: [])
        let request = SignedRequest(
            method: method, target: try RequestTarget(target, host: "", domains: []), fields: fields)
        let code = Hex.lower(signature.signature(of: request, secret: credentials.secret))
        let credential = "\(credentials.accessKeyID)/\(signature.scope.text)"
        fields.append("Authorization", "OSS4-HMAC-SHA256 Credential=\(credential),Signature=\(code)")
        fields.append("Host", "127.0.0.1:\(port)")
        if let length { fields.append("Content-Length", String(length)) }
        return "\(method) \(target) HTTP/1.1\r\n"
            + fields.fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    func send(
        _ method: String, query: String = "", body: [UInt8]? = nil, fields: [String: String] = [:], path: String? = nil
    ) throws -> RawConnection.Answer {
        let connection = try RawConnection(port: port)
        try connection.send(head(method, query: query, length: body?.count, fields: fields, path: path))
        if let body { try connection.send(body) }
        return try connection.answer(toHead: method == "HEAD")
    }

    func put(_ body: [UInt8], fields: [String: String] = [:]) throws -> RawConnection.Answer {
        try send("PUT", body: body, fields: fields)
    }

    func initiate() throws -> String {
        let answer = try send("POST", query: "uploads")
        return try answer.element("UploadId")
    }

    func part(
        _ number: Int, of id: String, _ body: [UInt8], fields: [String: String] = [:]
    ) throws -> RawConnection.Answer {
        try send("PUT", query: "partNumber=\(number)&uploadId=\(id)", body: body, fields: fields)
    }

    func complete(_ id: String, _ parts: [(Int, String)]) throws -> RawConnection.Answer {
        let items = parts.map { "<Part><PartNumber>\($0)</PartNumber><ETag>\($1)</ETag></Part>" }.joined()
        return try send(
            "POST", query: "uploadId=\(id)",
            body: Array("<CompleteMultipartUpload>\(items)</CompleteMultipartUpload>".utf8))
    }

    func completeAll(_ id: String) throws -> RawConnection.Answer {
        try send("POST", query: "uploadId=\(id)", body: [], fields: ["x-oss-complete-all": "yes"])
    }

    func get() throws -> [UInt8] {
        try send("GET").body
    }

    static func md5(_ body: [UInt8]) -> String {
        Base64.encode(Digest.md5(body))
    }
}

extension RawConnection.Answer {
    struct Missing: Error {
        let name: String
        let text: String
    }

    /// The text of an element of the answer's document.
    func element(_ name: String) throws -> String {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { throw Missing(name: name, text: text) }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// Status and code of an error.
    var error: String {
        "\(status) \((try? element("Code")) ?? "")"
    }

    /// The text of every element of that name.
    func elements(_ name: String) -> [String] {
        text.split(separator: "<\(name)>").dropFirst().map { String($0.prefix { $0 != "<" }) }
    }
}
