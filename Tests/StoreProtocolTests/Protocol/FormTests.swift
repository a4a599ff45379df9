import Basics
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct FormTests {
    private static let head: HTTPFields = ["Content-Type": "multipart/form-data; boundary=\"b--1\""]
    private static let file = "\r\n--b--not\r\n--b--\r\n\r\n--b--"
    private static let form = [
        "--b--1", "Content-Disposition: form-data; name=\"Key\"", "", "up/${filename}",
        "--b--1", "Content-Disposition: form-data; name=\"empty\"", "", "",
        "--b--1", "Content-Disposition: form-data; name=\"file\"; filename=\"a %22b.txt\"", "Content-Type: text/plain",
        "",
        file, "--b--1", "Content-Disposition: form-data; name=\"after\"", "", "x", "--b--1--", "",
    ].joined(separator: "\r\n")

    /// Parses a form in pieces of `size` bytes.
    private func read(_ text: String, by size: Int) throws -> (
        fields: HTTPFields, name: String, file: String, ends: Int
    ) {
        var parser = try #require(FormParser(Self.head))
        var result: (fields: HTTPFields, name: String, file: String, ends: Int) = ([:], "", "", 0)
        var bytes: [UInt8] = []
        let all = Array(text.utf8)
        for start in stride(from: 0, to: all.count, by: size) {
            let events = try all[start..<min(start + size, all.count)].withUnsafeBytes { try parser.read($0) }
            for event in events {
                switch event {
                case .file(let fields, let name, let type):
                    #expect(type == "text/plain")
                    (result.fields, result.name) = (fields, name)
                case .bytes(let piece): bytes += piece
                case .end: result.ends += 1
                }
            }
        }
        result.file = String(decoding: bytes, as: UTF8.self)
        return result
    }

    @Test(arguments: [1, 2, 3, 7, 64, 100_000])
    func formsInPiecesOfAnySizeAreTheSame(size: Int) throws {
        let found = try read(Self.form, by: size)
        #expect(found.fields == ["key": "up/${filename}", "empty": ""])
        #expect((found.name, found.file, found.ends) == ("a \"b.txt", Self.file, 1))
    }

    @Test(arguments: [
        "--b--1--\r\n", "--b--1\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--1\r\n", "--b--1xx",
        String(repeating: "x", count: 70_000),
    ])
    func otherBodiesAreRefused(text: String) {
        #expect(throws: StoreError.self) { try read(text, by: 100) }
    }

    @Test(arguments: ["name=\"file\"; filename=\"a\0b.txt\"", "name=\"a\0\"", "name=\"a\"\r\nContent-Type: a\0"])
    func nullCharacterInTheHeaderOfAPartIsRefused(header: String) throws {
        let form = "--b--1\r\nContent-Disposition: form-data; \(header)\r\n\r\nx\r\n" + Self.form
        let error = #expect(throws: StoreError.self) { try read(form, by: 100) }
        #expect(error?.message.contains("U+0000") == true)
    }

    @Test func nullCharacterInAFieldIsRefused() {
        let form = "--b--1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\0y\r\n" + Self.form
        let error = #expect(throws: StoreError.self) { try read(form, by: 100) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("has the character U+0000 in the field a") == true)
    }

    @Test(arguments: [
        ("a;b.txt", "a;b.txt"), ("a; name=b", "a; name=b"), ("a=b", "a=b"), ("a\\\"b;c", "a\"b;c"),
        ("%22a%22", "\"a\""),
        ("C:\\a\\", "C:\\a\\"), ("", ""), ("é", "é"),
    ])
    func namesOfFilesHaveAnyCharacter(sent: String, name: String) throws {
        let form = Self.form.replacing("a %22b.txt", with: sent)
        #expect(try read(form, by: 50).name == name)
    }

    @Test(arguments: [
        "multipart/form-data", "multipart/form-data; boundary=\"a<b\"", "multipart/mixed; boundary=b", "text/plain",
    ])
    func bodiesWithoutAValidBoundaryAreNoForms(type: String) {
        #expect(FormParser(["Content-Type": type]) == nil)
    }

    @Test func blanksBehindABoundaryArePassedOver() throws {
        let found = try read(Self.form.replacing("--b--1\r\n", with: "--b--1 \t\r\n"), by: 9)
        #expect(found.fields == ["key": "up/${filename}", "empty": ""])
        #expect((found.file, found.ends) == (Self.file, 1))
    }

    private func policy(_ text: String) throws(StoreError) -> FormPolicy {
        try FormPolicy(Base64.encode(Array(text.utf8)))
    }

    private func code(_ policy: FormPolicy, _ fields: HTTPFields, at seconds: Int64 = 0) -> StoreError.Code? {
        do throws(StoreError) {
            try policy.check(fields, bucket: "data", now: UnixTime(seconds: seconds))
            return nil
        } catch { return error.code }
    }

    @Test func aPolicyDecidesAboutEachField() throws {
        let policy = try policy(
            """
            {"expiration": "1970-01-01T00:00:10Z", "conditions": [{"bucket": "data"}, ["starts-with", "$key", "up/"],
            ["eq", "$Content-Type", "a\\u002fb"], ["content-length-range", 1, 10]]}
            """)
        #expect(policy.sizes == 1...10)
        let fields: HTTPFields = ["key": "up/x", "content-type": "a/b", "policy": "p", "x-amz-signature": "s"]
        #expect(code(policy, fields) == nil)
        #expect(code(policy, fields, at: 10) == .accessDenied)
        #expect(code(policy, ["key": "down/x", "content-type": "a/b"]) == .accessDenied)
        #expect(code(policy, ["key": "up/x"]) == .accessDenied)
        #expect(code(policy, ["key": "up/x", "content-type": "a/b", "acl": "private"]) == .accessDenied)
        #expect(code(policy, ["key": "up/x", "content-type": "a/b", "x-ignore-me": "1"]) == nil)
    }

    /// OSS has two conditions more, and needs none for each field.
    @Test func aPolicyOfOSSNamesTheFieldsThatItLimits() throws {
        let policy = try policy(
            """
            {"expiration": "1970-01-01T00:00:10Z", "conditions": [["in", "$key", ["a", "b"]],
            ["not-in", "$Cache-Control", ["no-store"]]]}
            """)
        func code(_ fields: HTTPFields) -> StoreError.Code? {
            do throws(StoreError) {
                try policy.check(fields, bucket: "data", now: UnixTime(seconds: 0), coversAllFields: false)
                return nil
            } catch { return error.code }
        }
        #expect(code(["key": "b", "x-oss-meta-a": "1"]) == nil)
        #expect(code(["key": "c"]) == .accessDenied)
        #expect(code(["key": "a", "cache-control": "no-store"]) == .accessDenied)
    }

    @Test(arguments: [
        ("image/png", true), ("image/png,image/jpeg", true), ("image/png, image/jpeg", true), ("text/html", false),
        ("image/png,text/html", false), ("text/html,image/png", false), ("image/png,", false), (",", false),
        ("", false),
    ])
    func beginningOfAContentTypeIsRequiredOfEachTypeInAList(types: String, isAllowed: Bool) throws {
        let policy = try policy(
            """
            {"expiration": "1970-01-01T00:00:10Z", "conditions": [["starts-with", "$Content-Type", "image/"],
            ["starts-with", "$key", "a"]]}
            """)
        #expect(code(policy, ["key": "a,b", "content-type": types]) == (isAllowed ? nil : .accessDenied))
    }

    @Test(arguments: [
        ("\\ud83d\\ude00", "\u{1F600}"), ("x\\uD842\\uDFB7y", "x\u{20BB7}y"), ("\\u00e9", "\u{E9}"),
        ("\\b\\f\\n\\r\\t\\/\\\\\\\"\\$", "\u{8}\u{C}\n\r\t/\\\"$"), ("\u{1F600}", "\u{1F600}"),
    ])
    func textOfAPolicyMayBeEscaped(escaped: String, key: String) throws {
        let policy = try policy(
            "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[\"eq\", \"$key\", \"\(escaped)\"]]}")
        #expect(code(policy, ["key": key]) == nil)
        #expect(code(policy, ["key": key + "x"]) == .accessDenied)
    }

    @Test(arguments: [
        "\\ud83d", "\\ude00", "\\ud83d\\u0041", "\\ud83dx", "\\ude00\\ud83d", "\\u+123", "\\u12", "\\x41", "\\ud83d\\u",
    ])
    func malformedEscapesOfAPolicyAreRefused(escaped: String) {
        let error = #expect(throws: StoreError.self) {
            try policy(
                "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[\"eq\", \"$key\", \"\(escaped)\"]]}")
        }
        #expect(error?.code == .invalidPolicyDocument)
    }

    /// RFC 8259, section 3: they are values like others, and wrong only where a text is required.
    @Test(arguments: ["true", "false", "null", "1.5", "-1"])
    func valuesThatAreNoTextAreMalformedConditions(value: String) {
        let error = #expect(throws: StoreError.self) {
            try policy("{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [{\"acl\": \(value)}]}")
        }
        #expect(error?.code == .invalidPolicyDocument)
        #expect(error?.message.contains("malformed condition") == true)
    }

    /// Texts that Unicode takes for the same are different keys.
    @Test func conditionsCompareBytes() throws {
        for condition in ["[\"eq\", \"$key\", \"\u{E9}\"]", "[\"starts-with\", \"$key\", \"\u{E9}\"]"] {
            let policy = try policy("{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [\(condition)]}")
            #expect(code(policy, ["key": "\u{E9}"]) == nil)
            #expect(code(policy, ["key": "e\u{301}"]) == .accessDenied)
        }
    }

    @Test(arguments: [
        "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[\"in\", \"$key\", [1]]]}",
        "", "[]", "{}", "{\"expiration\": \"tomorrow\"}",
        "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[]]}",
        "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[\"eq\", \"key\", \"x\"]]}",
        "{\"expiration\": \"1970-01-01T00:00:10Z\", \"conditions\": [[\"content-length-range\", 5, 1]]}",
        """
        {"expiration": "1970-01-01T00:00:10Z",
        "conditions": [["content-length-range", 5, 10], ["content-length-range", 1, 4]]}
        """,
        "{\"expiration\": \"1970-01-01T00:00:10Z\", \"other\": 1}", "[[[[[[[[[[1]]]]]]]]]]", "{\"a\": \"\\u12\"}",
    ])
    func otherPoliciesAreRefused(text: String) {
        let error = #expect(throws: StoreError.self) { try policy(text) }
        #expect(error?.code == .invalidPolicyDocument)
    }
}
