import Basics
package import HTTPTypes

/// The fields that a client stores with an object and that are returned with it: the fields that both protocols define, its own
/// metadata, and tags. In the database: one line `name: value` for each; metadata is `meta-NAME`.
package struct KeptFields: Sendable, Equatable {
    /// The largest size of the names and values of a client's metadata, in bytes (S3's limit).
    package static let maximumMetadata = 2048
    /// The largest size of each other field, in bytes.
    static let longestValue = 1024
    private static let standard: Set = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "expires",
    ]
    /// The fields by which an object's uploader decides how others see it.
    private static let presentation: Set = ["cache-control", "content-disposition", "content-encoding", "expires"]
    private static let metadata = "meta-"
    private static let tags = "tags"
    private static let appendable = "appendable"

    /// The text in the database; `nil`: no fields, as for most objects.
    package private(set) var text: String?

    package static let none = KeptFields(text: nil)

    package init(text: String?) {
        self.text = text
    }

    /// - Parameter names: the names of the fields that differ between the dialects.
    /// - Throws: `metadataTooLarge`, `invalidArgument`, `invalidTag`.
    package init(_ fields: HTTPFields, _ names: OptionNames) throws(StoreError) {
        var lines: [(name: String, value: String)] = []
        var bytes = 0
        for field in fields.fields {
            try Self.requireServable(field, names)
            if field.name.utf8.starts(with: names.metadata.utf8) {
                let name = String(field.name.dropFirst(names.metadata.count))
                bytes += name.utf8.count + field.value.utf8.count
                lines.append((Self.metadata + name, field.value))
            } else if Self.standard.contains(field.name) {
                guard let value = try Self.value(field) else { continue }
                lines.append((field.name, value))
            }
        }
        guard bytes <= Self.maximumMetadata else {
            throw StoreError(
                .metadataTooLarge,
                "The object's own metadata has \(bytes) bytes; at most \(Self.maximumMetadata) are stored.")
        }
        if let tags = try fields[names.tagging].map({ text throws(StoreError) in try TagSet(query: text) }),
            !tags.isEmpty
        {
            lines.append((Self.tags, tags.query))
        }
        text = lines.isEmpty ? nil : Self.text(lines)
    }

    /// Values from a form or from the query of a presigned URL may contain bytes that are not allowed in a header field.
    private static func requireServable(_ field: HTTPFields.Field, _ names: OptionNames) throws(StoreError) {
        guard standard.contains(field.name) || field.name == "content-type" || field.name.hasPrefix(names.metadata)
        else {
            return
        }
        guard isServable(field.name, field.value) else {
            throw StoreError(
                .invalidArgument,
                "The field \(field.name.filter(\.isASCII).prefix(100)) must have no control characters.")
        }
    }

    /// Whether an answer can have the field. A tab is possible in HTTP, but libmicrohttpd refuses to send it.
    package static func isServable(_ name: String, _ value: String) -> Bool {
        name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Returns the value to keep of a field that both protocols define; `nil` if it says nothing.
    private static func value(_ field: HTTPFields.Field) throws(StoreError) -> String? {
        guard field.value.utf8.count <= longestValue else {
            throw StoreError(.invalidArgument, "\(field.name) must be at most \(longestValue) bytes.")
        }
        guard field.name == "content-encoding" else { return field.value.isEmpty ? nil : field.value }
        // The encoding of the request's body, which is removed.
        let codings = field.value.split(separator: ",").map { String($0).trimming { $0 == " " || $0 == "\t" } }
        let kept = codings.filter { $0.lowercased() != "aws-chunked" && !$0.isEmpty }.joined(separator: ", ")
        return kept.isEmpty ? nil : kept
    }

    /// The fields as an answer has them, without those that cannot be sent: rather one field less than no answer.
    package func fields(_ names: OptionNames) -> HTTPFields {
        var fields: HTTPFields = [:]
        for (name, value) in lines where Self.isServable(name, value) {
            if Self.standard.contains(name) {
                fields.append(name, value)
            } else if name.hasPrefix(Self.metadata) {
                fields.append(names.metadata + name.dropFirst(Self.metadata.count), value)
            }
        }
        return fields
    }

    /// Whether the object was made by AppendObject.
    package var isAppendable: Bool {
        get { self[Self.appendable] != nil }
        set { self[Self.appendable] = newValue ? "true" : nil }
    }

    /// The tags stored with the object, or set later.
    package var tags: TagSet {
        get { self[Self.tags].map(TagSet.init(stored:)) ?? TagSet() }
        set { self[Self.tags] = newValue.isEmpty ? nil : newValue.query }
    }

    /// All but the fields that say how the object is shown and cached.
    package var withoutPresentation: KeptFields {
        guard text != nil else { return self }
        let others = lines.filter { !Self.presentation.contains($0.name) }
        return KeptFields(text: others.isEmpty ? nil : Self.text(others))
    }

    /// Returns the name of a field, or of the tags, that `others` do not have with the same value; `nil` if they have all.
    package func difference(from others: KeptFields, _ names: OptionNames) -> String? {
        let known = others.fields(names)
        let missing = fields(names).fields.first { field in
            known[field.name]?.isExactly(field.value) != true
        }
        if let missing { return missing.name }
        return tags.isEmpty || tags == others.tags ? nil : names.tagging
    }

    private subscript(name: String) -> String? {
        get { lines.first { $0.name == name }?.value }
        set {
            let others = lines.filter { $0.name != name }
            let all = others + (newValue.map { [(name, $0)] } ?? [])
            text = all.isEmpty ? nil : Self.text(all)
        }
    }

    private var lines: [(name: String, value: String)] {
        (text ?? "").split(separator: "\n").compactMap { line in
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            // By bytes: a combining mark at the start of a value would be taken off with the space.
            return (String(line[..<colon]), String(decoding: line.utf8[colon...].dropFirst(2), as: UTF8.self))
        }
    }

    private static func text(_ lines: [(name: String, value: String)]) -> String {
        lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}

/// The names of a dialect's fields that differ from the other dialect's.
package struct OptionNames: Sendable {
    package let metadata: String
    package let metadataDirective: String
    package let tagging: String
    package let taggingDirective: String
    package let copySource: String
    package let copySourceRange: String
    /// The prefix of `if-match` and similar fields for copies.
    package let copyCondition: String

    /// - Parameter prefix: the prefix of the dialect's fields, e.g. `x-amz-`.
    init(prefix: String) {
        metadata = prefix + "meta-"
        metadataDirective = prefix + "metadata-directive"
        tagging = prefix + "tagging"
        taggingDirective = prefix + "tagging-directive"
        copySource = prefix + "copy-source"
        copySourceRange = prefix + "copy-source-range"
        copyCondition = prefix + "copy-source-"
    }

    package static let oss = OptionNames(prefix: "x-oss-")
    package static let s3 = OptionNames(prefix: "x-amz-")
}
