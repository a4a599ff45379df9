package import Basics
package import HTTPTypes
import JSON

/// The policy that was signed for a form: until when it may be sent, and what each field must be (S3's "POST policy"; OSS's
/// PostObject has the same, and two conditions more: `in` and `not-in`).
package struct FormPolicy {
    /// The rule for one field's value. Compared by bytes: other text that Unicode takes for the same names another object.
    private enum Rule {
        case equal(String)
        case starts(String)
        case isIn([String])
        case isNotIn([String])

        func holds(_ value: String) -> Bool {
            switch self {
            case .equal(let other): value.isExactly(other)
            case .starts(let beginning): value.utf8.starts(with: beginning.utf8)
            case .isIn(let values): values.contains { $0.isExactly(value) }
            case .isNotIn(let values): !values.contains { $0.isExactly(value) }
            }
        }
    }

    private struct Condition {
        let name: String
        let rule: Rule

        /// - Parameter value: of the form's field. A beginning of a Content-Type is required of each type in a list, as S3 documents
        ///   it: a list of an image and a page would pass for images otherwise.
        func holds(_ value: String) -> Bool {
            guard name == "content-type", case .starts = rule else { return rule.holds(value) }
            return value.split(separator: ",", omittingEmptySubsequences: false)
                .allSatisfy { rule.holds(String($0).trimming { $0 == " " || $0 == "\t" }) }
        }
    }

    package let expiresAt: UnixTime
    /// Bytes of the file.
    package let sizes: ClosedRange<Int64>
    private let conditions: [Condition]

    private static let maximumBytes = 20 << 10
    private static let rules = {
        var rules = JSONRules.json
        rules.maximumDepth = 6
        rules.permitsEscapedDollar = true
        return rules
    }()

    /// Fields that need no condition.
    private static let free: Set = [
        "policy", "x-amz-signature", "x-oss-signature", "signature", "ossaccesskeyid", "file", "submit",
    ]

    /// - Parameter text: in base64, as the form has it.
    /// - Throws: `invalidPolicyDocument`.
    package init(_ text: String) throws(StoreError) {
        guard let bytes = Base64.decode(text), bytes.count <= Self.maximumBytes,
            case .object(let members) = try? JSONValue(parsing: bytes, Self.rules)
        else { throw Self.invalid("is not a JSON object in base64") }
        var expiresAt: UnixTime?
        var conditions: [Condition] = []
        var sizes: ClosedRange<Int64> = 0...(.max)
        for member in members {
            switch (member.name.lowercased(), member.value) {
            case ("expiration", .string(let time)):
                expiresAt = RFC3339.parse(time).map { UnixTime(seconds: $0.second.seconds) }
            case ("conditions", .array(let elements)):
                for element in elements { try Self.read(element, &conditions, &sizes) }
            default: throw Self.invalid("has the unknown member \(member.name)")
            }
        }
        guard let expiresAt else { throw Self.invalid("has no valid expiration") }
        self.expiresAt = expiresAt
        self.sizes = sizes
        self.conditions = conditions
    }

    private static func read(
        _ element: JSONValue, _ conditions: inout [Condition], _ sizes: inout ClosedRange<Int64>
    ) throws(StoreError) {
        switch element {
        case .object(let members):
            for member in members {
                guard case .string(let value) = member.value else { throw invalid("has a malformed condition") }
                conditions.append(Condition(name: member.name.lowercased(), rule: .equal(value)))
            }
        case .array(let parts):
            guard parts.count == 3, case .string(let kind) = parts[0] else {
                throw invalid("has a malformed condition")
            }
            try read(kind.lowercased(), parts[1], parts[2], &conditions, &sizes)
        default: throw invalid("has a malformed condition")
        }
    }

    private static func read(
        _ kind: String, _ first: JSONValue, _ second: JSONValue, _ conditions: inout [Condition],
        _ sizes: inout ClosedRange<Int64>
    ) throws(StoreError) {
        switch (kind, first, second) {
        case ("content-length-range", .number(let least), .number(let most)) where least >= 0 && least <= most:
            let (lower, upper) = (max(sizes.lowerBound, least), min(sizes.upperBound, most))
            guard lower <= upper else { throw invalid("has ranges of content-length-range that no size fulfills") }
            sizes = lower...upper
        case (_, .string(let name), _) where name.utf8.first == UInt8(ascii: "$"):
            guard let rule = rule(kind, second) else { throw invalid("has a malformed condition") }
            conditions.append(Condition(name: String(name.unicodeScalars.dropFirst()).lowercased(), rule: rule))
        default: throw invalid("has a malformed condition")
        }
    }

    private static func rule(_ kind: String, _ value: JSONValue) -> Rule? {
        switch (kind, value) {
        case ("eq", .string(let value)): return .equal(value)
        case ("starts-with", .string(let value)): return .starts(value)
        case ("in", .array(let values)), ("not-in", .array(let values)):
            let texts = values.compactMap { value in if case .string(let text) = value { text } else { nil } }
            guard texts.count == values.count else { return nil }
            return kind == "in" ? .isIn(texts) : .isNotIn(texts)
        default: return nil
        }
    }

    /// - Parameters:
    ///   - fields: of the form, before its file.
    ///   - bucket: that the form is sent to.
    ///   - coversAllFields: whether each field needs a condition, as in S3. In OSS those without one may have any value.
    /// - Throws: `accessDenied` where the form is not what was signed.
    package func check(
        _ fields: HTTPFields, bucket: String, now: UnixTime, coversAllFields: Bool = true
    ) throws(StoreError) {
        guard now < expiresAt else { throw StoreError(.accessDenied, "PostObject: the policy has expired.") }
        var named: Set<String> = []
        for condition in conditions {
            named.insert(condition.name)
            let value = condition.name == "bucket" ? bucket : fields[condition.name] ?? ""
            guard condition.holds(value) else { throw Self.failed(condition.name) }
        }
        guard coversAllFields else { return }
        for field in fields.fields where !Self.free.contains(field.name) && !field.name.hasPrefix("x-ignore-") {
            guard named.contains(field.name) else {
                throw StoreError(.accessDenied, "PostObject: the policy has no condition for the field \(field.name).")
            }
        }
    }

    private static func failed(_ name: String) -> StoreError {
        StoreError(.accessDenied, "PostObject: the field \(name) does not fulfill the policy's condition.")
    }

    private static func invalid(_ what: String) -> StoreError {
        StoreError(.invalidPolicyDocument, "PostObject: the policy is not valid: it \(what).")
    }
}
