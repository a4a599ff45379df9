import Basics
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct RequestTargetTests {
    private func parse(_ target: String, host: String = "127.0.0.1:80") throws -> RequestTarget {
        try RequestTarget(target, host: host, domains: ["oss-x.example.com"])
    }

    @Test(
        arguments: [
            ("/", nil, nil),
            ("/bucket", "bucket", nil),
            ("/bucket/", "bucket", nil),
            ("/bucket/a%2Fb", "bucket", "a/b"),
            ("/bucket/a//b/", "bucket", "a//b/"),
            ("/bucket/a+b%20c%2520", "bucket", "a+b c%20"),
            ("/bucket/%C3%BC%e6%97%a5", "bucket", "ü日"),
            ("/bucket/a%3Fb?c", "bucket", "a?b"),
        ] as [(String, String?, String?)])
    func decodesThePathOnce(target: String, bucket: String?, key: String?) throws {
        let parsed = try parse(target)
        #expect(parsed.bucket == bucket)
        #expect(parsed.key == key)
    }

    @Test func takesTheBucketFromTheHost() throws {
        #expect(try parse("/a/b", host: "bucket.OSS-x.example.com").bucket == "bucket")
        #expect(try parse("/a/b", host: "bucket.oss-x.example.com:8080").key == "a/b")
        #expect(try parse("/bucket/b", host: "oss-x.example.com").bucket == "bucket")
        #expect(try parse("/k", host: "a.b.oss-x.example.com").bucket == "a.b")
        #expect(throws: RequestTarget.Malformed.bucket) { try parse("/k", host: "a..b.oss-x.example.com") }
    }

    @Test func parametersAreReadInTheirOrder() throws {
        let target = try parse("/bucket/k?b=2&uploads&a=&b=%26+%2B&c=x=y")
        #expect(target.parameters.map(\.name) == ["b", "uploads", "a", "b", "c"])
        #expect(target.parameters.map(\.value) == ["2", "", "", "& +", "x=y"])
        #expect(target["uploads"]?.isEmpty == true)
        #expect(target["b"] == nil)
        #expect(target["c"] == "x=y")
        #expect(target["missing"] == nil)
    }

    @Test(
        arguments: [
            ("bucket", .target), ("/bucket/%", .target), ("/bucket/%2", .target), ("/bucket/%zz", .target),
            ("/bucket/%ff", .target), ("/bucket/a b", .target), ("/bucket/a#b", .target), ("/bucket/k?a=%f", .target),
            ("/bucket/k?=x", .target),
            ("/b/k", .bucket), ("/Bucket/k", .bucket), ("/-bucket/k", .bucket), ("/buc%6Bet/k", .bucket),
            ("//k", .bucket),
            ("/bucket/a%00b", .key(.invalidKey)), ("/bucket/a%01b", .key(.invalidKey)),
            ("/bucket?marker=a%00", .parameter("marker")), ("/bucket?%00", .parameter("\0")),
            ("/bucket/%1B[2J", .key(.invalidKey)), ("/bucket/%EF%BF%BF", .key(.invalidKey)),
            ("/bucket/" + String(repeating: "k", count: 1025), .key(.keyTooLong)),
        ] as [(String, RequestTarget.Malformed)])
    func malformedTargetIsRefused(target: String, reason: RequestTarget.Malformed) {
        #expect(throws: reason) { try parse(target) }
    }

    @Test(
        arguments: [
            ("/bucket//k", "/k"), ("/bucket/a/../b", "a/../b"), ("/bucket/.", "."), ("/bucket/..", ".."),
            ("/bucket/%2e%2E/b", "../b"), ("/bucket/a%5Cb", "a\\b"), ("/bucket/a%09b", "a\tb"),
            ("/bucket/a%0Ab", "a\nb"),
            ("/bucket/a%0D%0Ab", "a\r\nb"), ("/bucket/a%C2%85b", "a\u{85}b"), ("/bucket/a%7F", "a\u{7F}"),
            ("/bucket/%F0%9F%98%80", "\u{1F600}"), ("/bucket/a//", "a//"),
        ])
    func keyIsANameWhateverItLooksLike(target: String, key: String) throws {
        #expect(try parse(target).key?.isExactly(key) == true)
    }

    @Test func keysOf1024BytesAreValid() throws {
        #expect(try parse("/bucket/" + String(repeating: "%C3%A9", count: 512)).key?.utf8.count == 1024)
        #expect(throws: RequestTarget.Malformed.key(.keyTooLong)) {
            try parse("/bucket/x" + String(repeating: "%C3%A9", count: 512))
        }
    }

    @Test func portableKeysHaveNoMeaningOfAPath() {
        #expect(ObjectName.isPortableKey(String(repeating: "é", count: 511)))
        #expect(!ObjectName.isPortableKey(String(repeating: "é", count: 512)))
        for key in ["", "/a", "a/../b", ".", "a\\b", "a\tb", "a\u{85}"] { #expect(!ObjectName.isPortableKey(key)) }
        // A slash is a delimiter, whatever follows it.
        #expect(!ObjectName.isPortableKey("a/../\u{301}b") && !ObjectName.isPortableKey("../\u{301}b"))
    }

    @Test func invalidBucketNamesAreRefused() {
        #expect(ObjectName.isBucket(String(repeating: "a", count: 63)))
        #expect(!ObjectName.isBucket(String(repeating: "a", count: 64)))
        #expect(!ObjectName.isBucket("ab"))
        #expect(!ObjectName.isBucket("abc-"))
        for name in ["a.b", "a-.b", "1.2.3", "1.2.3.4.5", "1.2.3.x"] {
            #expect(ObjectName.isBucket(name) && !ObjectName.isBucketOfOSS(name))
        }
        for name in ["a..b", ".ab", "ab.", "1.2.3.4", "a_b", "Abc"] { #expect(!ObjectName.isBucket(name)) }
        #expect(ObjectName.isBucketOfOSS("a-b"))
    }
}
