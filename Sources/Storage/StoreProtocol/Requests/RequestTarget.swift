/// Which bucket, object and sub-resource a request is about: its target and Host, decoded exactly once.
package struct RequestTarget: Equatable {
    package enum Malformed: Error, Equatable {
        case target
        case bucket
        case key
    }

    package struct Parameter: Equatable {
        package let name: String
        /// Empty also where there was no `=`: neither signature tells the two apart.
        package let value: String
    }

    /// Nil: the root of the service.
    package let bucket: String?
    /// Nil: the bucket itself.
    package let key: String?
    /// Whether the bucket came from the host.
    package let isVirtualHost: Bool
    /// Whether the path ends with the bucket, without a slash behind it.
    private let hasBareBucket: Bool
    /// In the order in which they were sent; a name may occur twice.
    package let parameters: [Parameter]

    /// - Parameters:
    ///   - target: in origin form, as it was sent.
    ///   - host: the Host field, with or without port.
    ///   - domains: under which a host's first label is the bucket, lower case, e.g. `oss-local.example.com`. A request
    ///     to any other host is in path style.
    package init(_ target: String, host: String, domains: [String]) throws(Malformed) {
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else { throw .target }
        // Bytes: in characters, a combining mark would take a separator before it along.
        let (path, query) = target[...].halves(at: "?")
        guard path.utf8.first == UInt8(ascii: "/") else { throw .target }
        parameters = try Self.parameters(query ?? "")

        var rest = Substring(path.utf8.dropFirst())
        let virtualBucket = Self.bucket(ofHost: host, domains: domains)
        isVirtualHost = virtualBucket != nil
        if let virtualBucket {
            bucket = virtualBucket
            hasBareBucket = false
        } else {
            let (name, object) = rest.halves(at: "/")
            bucket = rest.isEmpty ? nil : String(name)
            hasBareBucket = object == nil
            rest = object ?? ""
        }
        if let bucket, !ObjectName.isBucket(bucket) { throw .bucket }
        guard let key = URLEncoding.decode(rest) else { throw .target }
        if !key.isEmpty, !ObjectName.isKey(key) { throw .key }
        self.key = key.isEmpty ? nil : key
    }

    /// Decoded, as it was sent.
    package var path: String {
        guard let bucket, !isVirtualHost else { return "/" + (key ?? "") }
        return "/\(bucket)" + (hasBareBucket ? "" : "/") + (key ?? "")
    }

    /// The value of a parameter that may occur once at most.
    package subscript(name: String) -> String? {
        let values = parameters.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    package func has(_ name: String) -> Bool {
        parameters.contains { $0.name == name }
    }

    private static func parameters(_ query: Substring) throws(Malformed) -> [Parameter] {
        var parameters: [Parameter] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = Substring(pair).halves(at: "=")
            guard let name = URLEncoding.decode(halves.first), !name.isEmpty,
                let value = URLEncoding.decode(halves.second ?? "")
            else { throw .target }
            parameters.append(Parameter(name: name, value: value))
        }
        return parameters
    }

    private static func bucket(ofHost host: String, domains: [String]) -> String? {
        let name = host.lowercased().prefix { $0 != ":" }
        for domain in domains where name.hasSuffix("." + domain) {
            return String(name.dropLast(domain.count + 1))
        }
        return nil
    }
}

extension Substring {
    /// The text before the first separator and the text after it; nil without a separator.
    fileprivate func halves(at separator: Unicode.Scalar) -> (first: Substring, second: Substring?) {
        guard let place = utf8.firstIndex(of: UInt8(ascii: separator)) else { return (self, nil) }
        return (self[..<place], self[utf8.index(after: place)...])
    }
}
