package import Basics
package import HTTPTypes

/// The conditions that a GET or HEAD names (RFC 9110, section 13).
package struct Preconditions: Sendable {
    package enum Outcome: Equatable {
        /// The request continues.
        case met
        /// 304: the client's copy is up to date.
        case notModified
        /// 412.
        case failed
    }

    private let fields: HTTPFields

    package init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// Evaluates the conditions in the order of section 13.2.2: a condition on tags takes precedence over one on dates. Invalid
    /// dates are ignored.
    package func outcome(etag: String, lastModified: UnixTime) -> Outcome {
        if let tags = list("if-match") {
            // Strong comparison: a weak tag matches nothing.
            guard tags.contains(where: { $0 == "*" || ETag.matches($0, etag) }) else { return .failed }
        } else if let date = date("if-unmodified-since"), lastModified.seconds > date.seconds {
            return .failed
        }
        if let tags = list("if-none-match") {
            let isKnown = tags.contains { tag in
                tag == "*" || ETag.matches(tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...], etag)
            }
            return isKnown ? .notModified : .met
        }
        if let date = date("if-modified-since"), lastModified.seconds <= date.seconds { return .notModified }
        return .met
    }

    /// Whether If-Range permits the Range field (section 13.1.5). Only tags are compared: a date does not distinguish two objects
    /// of the same second, and returning the whole object is always correct.
    package func permitRange(etag: String) -> Bool {
        fields["if-range"].map { ETag.matches($0, etag) } ?? true
    }

    /// Returns the tags of a field over all of its lines. A comma inside a tag splits it, which does not matter because the store's
    /// tags contain none.
    private func list(_ name: String) -> [String]? {
        let values = fields.values(of: name)
        if values.isEmpty { return nil }
        return values.joined(separator: ",").split(separator: ",").map { tag in
            String(tag).trimming { $0 == " " || $0 == "\t" }
        }
    }

    private func date(_ name: String) -> UnixTime? {
        fields[name].flatMap { Timestamps.parseHTTP($0) }
    }
}
