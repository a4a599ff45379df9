package import Basics
package import HTTPTypes

/// A client's request to an object store, signed with version 4 in the Authorization field.
package struct ClientRequest: Sendable, Equatable {
    /// The store's protocol.
    package enum Dialect: String, Sendable, CaseIterable {
        case oss
        case s3
    }

    package let method: String
    package let url: String
    /// The given fields, and those of the signature.
    package let fields: HTTPFields

    init(method: String, url: String, fields: HTTPFields) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// Signs a request. For OSS, the bucket is in the path if the endpoint is an address (or this machine), otherwise in front of
    /// the host, like in every client; for S3 it is always in the path, which all stores except Amazon's own accept.
    ///
    /// - Parameters:
    ///   - query: the decoded parameters; an empty value stands for a name without one.
    ///   - fields: further fields. `Content-MD5` and `Content-Type` are signed; for S3, all are.
    /// - Returns: `nil` if the bucket is invalid, or the key not valid in every store.
    package init?(
        _ method: String, _ object: StoreObject, query: [(name: String, value: String)] = [],
        fields: HTTPFields = [:], credentials: SigningCredentials, now: UnixTime
    ) {
        let parameters = query.map { name, value in
            URLEncoding.encode(name) + (value.isEmpty ? "" : "=\(URLEncoding.encode(value))")
        }
        let rest =
            "/" + URLEncoding.encode(object.key, keepingSlashes: true)
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        guard ObjectName.isPortableKey(object.key),
            let target = try? RequestTarget("/\(object.bucket)\(rest)", host: "", domains: [])
        else { return nil }
        let unsigned = SignedRequest(method: method, target: target, fields: fields)
        self.method = method
        let endpoint = object.endpoint
        switch object.dialect {
        case .oss:
            self.fields = OSSSignatureV4.sign(unsigned, region: object.region, credentials, now: now)
            url =
                endpoint.isPathStyle
                ? "\(endpoint.text)/\(object.bucket)\(rest)" : endpoint.virtualHost(object.bucket) + rest
        case .s3:
            self.fields = S3Signature.sign(
                unsigned, host: endpoint.hostField, region: object.region, credentials, now: now)
            url = "\(endpoint.text)/\(object.bucket)\(rest)"
        }
    }
}

extension StoreEndpoint {
    /// The value of `Host` in the form that clients send: without the scheme's default port.
    var hostField: String {
        let standard = isSecure ? ":443" : ":80"
        return authority.hasSuffix(standard) ? String(authority.dropLast(standard.count)) : authority
    }

    fileprivate var isPathStyle: Bool {
        host == "localhost" || host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    }

    func virtualHost(_ bucket: String) -> String {
        text.replacing("://", with: "://\(bucket).", maxReplacements: 1)
    }
}
