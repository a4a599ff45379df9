import Basics

/// The bucket, object and sub-resource of a request, from its target and Host, decoded exactly once.
package struct RequestTarget: Equatable {
    package enum Malformed: Error, Equatable {
        case target
        case bucket
        case key(StoreError)
        /// A parameter of that name has the character U+0000.
        case parameter(String)
    }

    package struct Parameter: Equatable {
        package let name: String
        /// The value; also empty if there was no `=`, which neither signature distinguishes.
        package let value: String
    }

    /// The bucket; `nil` = the root of the service.
    package let bucket: String?
    /// The key; `nil` = the bucket itself.
    package let key: String?
    /// Whether the bucket came from the host.
    package let isVirtualHost: Bool
    /// Whether the path ends with the bucket, without a slash after it.
    private let hasBareBucket: Bool
    /// The parameters in the order in which they were sent; names may be repeated.
    package let parameters: [Parameter]

    /// - Parameters:
    ///   - target: in origin form, as sent.
    ///   - host: the Host field, with or without port.
    ///   - domains: the domains under which a host's first label is the bucket, in lower case, e.g. `oss-local.example.com`. A
    ///     request to any other host is in path style.
    package init(_ target: String, host: String, domains: [String]) throws(Malformed) {
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else { throw .target }
        // Split by bytes: as a character, a separator may be combined with a following mark.
        let (path, query) = target[...].halves(atFirst: "?")
        guard path.utf8.first == UInt8(ascii: "/") else { throw .target }
        parameters = try Self.parameters(query ?? "")

        var rest = Substring(path.utf8.dropFirst())
        let virtualBucket = Self.bucket(ofHost: host, domains: domains)
        isVirtualHost = virtualBucket != nil
        if let virtualBucket {
            bucket = virtualBucket
            hasBareBucket = false
        } else {
            let (name, object) = rest.halves(atFirst: "/")
            bucket = rest.isEmpty ? nil : String(name)
            hasBareBucket = object == nil
            rest = object ?? ""
        }
        if let bucket, !ObjectName.isBucket(bucket) { throw .bucket }
        guard let key = URLEncoding.decode(rest) else { throw .target }
        if !key.isEmpty {
            do { try ObjectName.requireKey(key) } catch { throw .key(error) }
        }
        self.key = key.isEmpty ? nil : key
    }

    /// The decoded path, with the bucket only if it was in the path.
    package var path: String {
        guard let bucket, !isVirtualHost else { return "/" + (key ?? "") }
        return "/\(bucket)" + (hasBareBucket ? "" : "/") + (key ?? "")
    }

    /// The value of a parameter that may occur at most once.
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
            let halves = Substring(pair).halves(atFirst: "=")
            guard let name = URLEncoding.decode(query: halves.first), !name.isEmpty,
                let value = URLEncoding.decode(query: halves.second ?? "")
            else { throw .target }
            guard !name.utf8.contains(0), !value.utf8.contains(0) else { throw .parameter(name) }
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
