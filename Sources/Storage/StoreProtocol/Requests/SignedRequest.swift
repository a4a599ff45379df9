package import HTTPTypes

/// The part of a request that signatures cover: everything but its body.
package struct SignedRequest {
    package let method: String
    package let target: RequestTarget
    package let fields: HTTPFields

    package init(method: String, target: RequestTarget, fields: HTTPFields) {
        self.method = method
        self.target = target
        self.fields = fields
    }

    /// `/bucket/key`, decoded, even if the bucket came from the host.
    var resource: String {
        guard let bucket = target.bucket else { return "/" }
        return "/\(bucket)/\(target.key ?? "")"
    }

    /// Returns the fields selected by `isSigned`, sorted by name; the values of a repeated field are joined.
    func canonicalFields(where isSigned: (String) -> Bool) -> String {
        var lines: [String: String] = [:]
        for field in fields.fields where isSigned(field.name) {
            lines[field.name] = lines[field.name].map { "\($0),\(field.value)" } ?? field.value
        }
        return lines.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\($0.key):\($0.value)\n" }.joined()
    }
}
