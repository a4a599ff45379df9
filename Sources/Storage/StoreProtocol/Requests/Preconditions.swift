import Basics
import HTTPTypes

/// The conditions that a GET or HEAD names (RFC 9110, section 13).
package struct Preconditions: Sendable {
    package enum Outcome: Equatable {
        /// The request goes on.
        case met
        /// 304: what the client has is still the same.
        case notModified
        /// 412.
        case failed
    }

    private let fields: HTTPFields

    package init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// In the order of section 13.2.2: a condition on tags stands before the one on dates that it comes with. A date that
    /// cannot be read is ignored.
    package func outcome(etag: String, lastModified: UnixTime) -> Outcome {
        if let tags = list("if-match") {
            // Compared strongly: a weak tag matches nothing.
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

    /// Whether If-Range lets the Range field count (section 13.1.5). By the tag only: a date does not tell two objects
    /// of one second apart, and a client that gets the whole instead of a range is never wrong.
    package func permitRange(etag: String) -> Bool {
        fields["if-range"].map { ETag.matches($0, etag) } ?? true
    }

    /// The tags of a field, however many lines it has. A comma inside of a tag cuts it, which makes no tag of ours: these
    /// hold none.
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
