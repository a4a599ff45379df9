import HTTPTypes

/// What the signatures are made over: the request without its body.
package struct SignedRequest {
    package let method: String
    package let target: RequestTarget
    package let fields: HTTPFields

    package init(method: String, target: RequestTarget, fields: HTTPFields) {
        self.method = method
        self.target = target
        self.fields = fields
    }

    /// `/bucket/key`, decoded: also where the bucket came from the host.
    var resource: String {
        guard let bucket = target.bucket else { return "/" }
        return "/\(bucket)/\(target.key ?? "")"
    }

    /// The fields that `isSigned` picks, by name; the values of a repeated one joined.
    func canonicalFields(where isSigned: (String) -> Bool) -> String {
        var lines: [String: String] = [:]
        for field in fields.fields where isSigned(field.name) {
            lines[field.name] = lines[field.name].map { "\($0),\(field.value)" } ?? field.value
        }
        return lines.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\($0.key):\($0.value)\n" }.joined()
    }
}
