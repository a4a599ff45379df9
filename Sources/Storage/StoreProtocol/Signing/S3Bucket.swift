package import Basics
package import HTTPTypes

/// A bucket of an S3 store, with its location.
package struct S3Bucket: Sendable, Equatable {
    /// The place of the bucket's name in a request.
    package enum Style: String, Sendable, CaseIterable {
        /// The first segment of the path, which all stores except Amazon's own accept.
        case path
        /// In front of the host.
        case virtualHost
    }

    package let endpoint: StoreEndpoint
    /// The region in the signature's scope.
    package let region: String
    package let name: String
    package let style: Style

    package init(endpoint: StoreEndpoint, region: String, name: String, style: Style = .path) {
        self.endpoint = endpoint
        self.region = region
        self.name = name
        self.style = style
    }
}

extension ClientRequest {
    /// Signs a request of S3. All fields are signed, the body is not.
    ///
    /// - Parameter key: `nil` = the bucket itself.
    /// - Returns: `nil` if the bucket is invalid, or the key not valid in every store.
    package init?(
        _ operation: S3Operation, of bucket: S3Bucket, credentials: SigningCredentials, now: UnixTime
    ) {
        let parameters = operation.query.map { name, value in
            URLEncoding.encode(name) + (value.isEmpty ? "" : "=\(URLEncoding.encode(value))")
        }
        guard ObjectName.isBucket(bucket.name), operation.key.map({ ObjectName.isPortableKey($0) }) != false else {
            return nil
        }
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        let path = operation.key.map { "/" + URLEncoding.encode($0, keepingSlashes: true) }
        let endpoint = bucket.endpoint
        let (rest, host, base): (String, String, String)
        switch bucket.style {
        case .path: (rest, host, base) = ("/\(bucket.name)\(path ?? "")\(query)", endpoint.hostField, endpoint.text)
        case .virtualHost:
            (rest, host) = ("\(path ?? "/")\(query)", "\(bucket.name).\(endpoint.hostField)")
            base = endpoint.virtualHost(bucket.name)
        }
        guard let target = try? RequestTarget(rest, host: host, domains: [endpoint.host]) else { return nil }
        let unsigned = SignedRequest(method: operation.method, target: target, fields: operation.fields)
        self.init(
            method: operation.method, url: base + rest,
            fields: S3Signature.sign(unsigned, host: host, region: bucket.region, credentials, now: now))
    }
}

/// A request of S3 before it is signed.
package struct S3Operation: Sendable {
    package var method: String
    /// `nil` = the bucket itself.
    package var key: String?
    /// The decoded parameters; an empty value stands for a name without one.
    package var query: [(name: String, value: String)]
    package var fields: HTTPFields

    package init(
        _ method: String, _ key: String?, query: [(name: String, value: String)] = [], fields: HTTPFields = [:]
    ) {
        self.method = method
        self.key = key
        self.query = query
        self.fields = fields
    }
}
