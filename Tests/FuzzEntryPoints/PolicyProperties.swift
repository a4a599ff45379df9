import Basics
import HTTPTypes
import JSON
import StoreProtocol

/// Properties of the reader of policies, and of the values of JSON and JSON5.
enum PolicyProperties {
    /// Policies of both dialects with each kind of condition and of escape, and texts that are refused.
    static let seeds: [[UInt8]] =
        [
            policy(#"{"bucket": "data"}, ["starts-with", "$key", "up/"], ["content-length-range", 1, 10]"#),
            policy(#"["eq", "$key", "\ud83d\ude00"], ["eq", "$Content-Type", "a\u002fb"], {"x": "\$"}"#),
            policy(#"["in", "$key", ["a", "b"]], ["not-in", "$cache-control", ["no-store"]]"#),
            policy(#"{"acl": true}"#), policy("null"), policy("1e2"), policy(#"["content-length-range", 5, 1]"#),
            policy(#""\ud83d""#), policy(#""\u+041""#), policy("[[[[[[1]]]]]]"),
            #"{"a":[1,-0,1.5,1E-2,99999999999999999999,true,false,null,""],"a":{}}"#,
            "// a\n{b: 'c', $d: [0x1F, .5, 5., +1, -.1,], /* e */ \"f\\\n\": '\\x41\\v\\0\\u{',}", "{a: Infinity}",
            "[1 2]", "{",
        ].map { Array($0.utf8) } + [[0x22, 0xFF, 0x22]]

    private static func policy(_ conditions: String) -> String {
        #"{"expiration": "2030-01-01T00:00:00Z", "conditions": [\#(conditions)]}"#
    }

    /// Checks that a policy is refused as one, or has valid limits, and that each value is the same after it was written.
    static func check(_ input: [UInt8]) {
        for rules in [JSONRules.json, .token, .json5] { checkValue(input, rules) }
        let policy: FormPolicy
        do throws(StoreError) {
            policy = try FormPolicy(Base64.encode(input))
        } catch {
            precondition(error.code == .invalidPolicyDocument, "a policy is refused as something else")
            return
        }
        precondition(policy.sizes.lowerBound >= 0, "a policy permits a negative size")
        for coversAllFields in [true, false] {
            try? policy.check(
                ["key": "up/a", "content-type": "a/b"], bucket: "data", now: UnixTime(seconds: 0),
                coversAllFields: coversAllFields)
        }
    }

    private static func checkValue(_ input: [UInt8], _ rules: JSONRules) {
        var reader = JSONValueReader(input, rules, recordsPlaces: true)
        do throws(JSONError) {
            let value = try reader.document()
            guard let again = try? JSONValue(parsing: Array(value.text.utf8)) else {
                fatalError("a value is refused as it was written")
            }
            precondition(again == value, "a value is not read as it was written")
            precondition(reader.places.values.allSatisfy { $0 < input.count }, "a member is behind the end")
        } catch {
            precondition((0...input.count).contains(error.offset), "an error is outside of the text")
            let position = JSONPosition(of: error.offset, in: input)
            precondition(position.line >= 1 && position.column >= 1, "an error has no position")
        }
    }
}
