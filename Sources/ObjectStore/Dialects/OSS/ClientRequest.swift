import Network
import Platform

/// A request to an OSS endpoint as its client sends it: signed with version 4, in the Authorization field.
public struct ClientRequest: Sendable, Equatable {
    public let method: String
    public let url: String
    /// Those that were given, and those of the signature.
    public let fields: HTTPFields

    /// The bucket goes into the path where the endpoint is an address (or this machine), otherwise before the host: as
    /// every client does it.
    ///
    /// - Parameters:
    ///   - query: decoded; an empty value stands for a name without one.
    ///   - fields: what else is sent. `Content-MD5` and `Content-Type` are signed.
    ///   - region: of the scope; empty where none is known.
    /// - Returns: `nil` where the bucket or the key is none.
    public init?(
        _ method: String, bucket: String, key: String, query: [(name: String, value: String)] = [],
        fields: HTTPFields = [:], at endpoint: StoreEndpoint, region: String, credentials: TemporaryCredentials,
        now: UnixTime
    ) {
        let date = Timestamps.basic(now)
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: region)
        var sent = fields
        sent.append("x-oss-content-sha256", OSSSignatureV4.payload)
        sent.append("x-oss-date", date)
        sent.append("x-oss-security-token", credentials.securityToken)
        let path = "/" + PercentEncoding.encode(key, keepingSlashes: true)
        let parameters = query.map { name, value in
            PercentEncoding.encode(name) + (value.isEmpty ? "" : "=\(PercentEncoding.encode(value))")
        }
        let rest = path + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        guard let target = try? RequestTarget("/\(bucket)\(rest)", host: "", domains: []), target.key != nil else {
            return nil
        }
        let canonical = OSSSignatureV4(scope: scope, date: date, additionalFields: [])
            .canonicalRequest(SignedRequest(method: method, target: target, fields: sent))
        let v4 = SignatureV4.oss
        let signature = v4.signature(of: canonical, date: date, scope: scope, secret: credentials.secret)
        let credential = "\(credentials.accessKeyID)/\(v4.text(of: scope))"
        sent.append("Authorization", "\(v4.algorithm) Credential=\(credential),Signature=\(Hex.lower(signature))")
        self.method = method
        self.fields = sent
        url = endpoint.isPathStyle ? "\(endpoint.text)/\(bucket)\(rest)" : endpoint.virtualHost(bucket) + rest
    }
}

extension StoreEndpoint {
    fileprivate var isPathStyle: Bool {
        host == "localhost" || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    fileprivate func virtualHost(_ bucket: String) -> String {
        text.replacing("://", with: "://\(bucket).", maxReplacements: 1)
    }
}
