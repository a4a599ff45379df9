import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct S3AuthenticationTests {
    private static let vectors = SignatureVectors.s3
    private let secret = Secret(Self.vectors.secret)

    private func read(_ request: SignedRequest, publicAuthority: String? = nil) throws -> Authentication {
        try S3Authentication(request: request, publicAuthority: publicAuthority).read()
    }

    private func isSigned(_ request: SignedRequest) throws -> Bool {
        try read(request).isSigned(request, by: secret)
    }

    @Test(arguments: vectors.vectors)
    func takesWhatTheClientsSign(vector: SignatureVectors.Vector) throws {
        let request = try vector.request()
        #expect(request.target.bucket == vector.bucket)
        #expect(request.target.key == vector.key)
        let authentication = try read(request)
        #expect(authentication.accessKeyID == Self.vectors.accessKeyID)
        #expect(authentication.securityToken == Self.vectors.securityToken)
        #expect(authentication.isSigned(request, by: secret))
        #expect(!authentication.isSigned(request, by: Secret("another")))
        let expiry = UnixTime(seconds: Self.vectors.signedAt + 900)
        #expect(authentication.expiresAt == (vector.mode == "presigned" ? expiry : nil))
    }

    /// No signed part can be changed: the key, a parameter, the method, the host, the scope, the date, the token.
    @Test(arguments: vectors.vectors)
    func refusesWhatWasChanged(vector: SignatureVectors.Vector) throws {
        let path = vector.target.prefix { $0 != "?" }
        let rest = vector.target.dropFirst(path.count)
        var changed = [
            try vector.request(target: path + "x" + rest),
            try vector.request(target: vector.target + (rest.isEmpty ? "?" : "&") + "uploadId=9"),
            try vector.request(method: "DELETE"),
            try vector.request(host: vector.host?.replacing("50080", with: "50081").replacing("b-1.", with: "b-2.")),
        ]
        for (old, new) in [
            ("us-east-1", "us-west-1"), ("cn-test", "cn-best"), ("20261121T080910Z", "20261121T080911Z"),
            ("dG9rZW4", "dG9rZW5"),
        ] {
            let fields = vector.headers.mapValues { $0.replacing(old, with: new) }
            changed.append(try vector.request(target: vector.target.replacing(old, with: new), fields: fields))
        }
        let honest = try vector.request()
        for request in changed where request.target != honest.target || request.fields != honest.fields {
            #expect(try !isSigned(request))
        }
        let unsigned = try vector.request(fields: ["x-amz-acl": "public-read"])
        #expect { try read(unsigned) } throws: { ($0 as? StoreError)?.code == .accessDenied }
    }

    private func vector(_ matches: (SignatureVectors.Vector) -> Bool) throws -> SignatureVectors.Vector {
        let found = Self.vectors.vectors.first(where: matches)
        return try #require(found)
    }

    @Test func takesTheSameBytesHoweverTheyAreWritten() throws {
        let vector = try vector { $0.mode == "header" && $0.key == "ü/日本//x/" && $0.target.hasPrefix("/b-1/") }
        for path in [
            "/b-1/%c3%bc/%e6%97%a5%E6%9C%AC//x/", "/b-1/%C3%BC%2F%E6%97%A5%E6%9C%AC%2f%2fx%2F", "/%62-1/ü/日本//x/",
        ] {
            let query = vector.target.drop { $0 != "?" }
            guard let request = try? vector.request(target: path + query) else {
                #expect(path.hasPrefix("/%62"))
                continue
            }
            #expect(try isSigned(request))
        }
    }

    /// The order of parameters does not matter; repeated values, empty values and a missing `=` do.
    @Test func queryIsSortedBeforeItIsSigned() throws {
        let vector = try vector { $0.mode == "header" && $0.target.contains("part-number-marker=") }
        let path = vector.target.prefix { $0 != "?" }
        let pairs = vector.target.dropFirst(path.count + 1).split(separator: "&").map(String.init)
        #expect(try isSigned(vector.request(target: path + "?" + pairs.reversed().joined(separator: "&"))))
        let bare = pairs.map { $0 == "part-number-marker=" ? "part-number-marker" : $0 }
        #expect(try isSigned(vector.request(target: path + "?" + bare.joined(separator: "&"))))
        #expect(try !isSigned(vector.request(target: path + "?" + (pairs + [pairs[0]]).joined(separator: "&"))))
    }

    @Test func joinsRepeatedFieldsAndCollapsesBlanks() throws {
        let target = try RequestTarget("/b-1/k?b=2&a&b=1", host: "h", domains: [])
        let request = SignedRequest(
            method: "GET", target: target,
            fields: ["Host": "h:1", "x-amz-meta-a": "1  2", "X-Amz-Meta-A": "\t3", "x-amz-date": "d"])
        let signature = S3Signature(
            scope: .init(day: "20261121", region: "r"), date: "", signedFields: ["host", "x-amz-date", "x-amz-meta-a"],
            payload: "P", otherHosts: [])
        #expect(
            signature.canonicalRequest(request, host: "h:1")
                == "GET\n/b-1/k\na=&b=1&b=2\nhost:h:1\nx-amz-date:d\nx-amz-meta-a:1 2,3\n\nhost;x-amz-date;x-amz-meta-a\nP"
        )
    }

    /// A proxy may have replaced the host.
    @Test(arguments: vectors.vectors.filter { $0.key.hasPrefix("uploads") })
    func takesThePublicHost(vector: SignatureVectors.Vector) throws {
        let isVirtual = vector.host?.hasPrefix("b-1.") == true
        let request = try vector.request(host: isVirtual ? "b-1.oss-cn-test.example.com:8443" : "inner:1")
        #expect(try !isSigned(request))
        let authority = isVirtual ? "oss-cn-test.example.com" : vector.host
        #expect(try read(request, publicAuthority: authority).isSigned(request, by: secret))
    }

    private static let scope = "20261121/us-east-1/s3/aws4_request"
    private static let right = "Credential=a/\(scope), SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=00"
    private static let sent: HTTPFields = [
        "Host": "h", "x-amz-date": "20261121T000000Z", "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    ]

    /// Texts after `AWS4-HMAC-SHA256 `, with the errors for them.
    private static let malformed: [(String, StoreError.Code)] = [
        ("", .authorizationMalformed),
        ("Credential", .authorizationMalformed),
        (right.replacing("Credential=", with: "credential="), .authorizationMalformed),
        (right.replacing(", Signature=00", with: ""), .authorizationMalformed),
        (right.replacing("SignedHeaders", with: "AdditionalHeaders"), .authorizationMalformed),
        (right + ", Signature=01", .authorizationMalformed),
        (right.replacing("/s3/", with: "/oss/"), .authorizationMalformed),
        (right.replacing("/s3/", with: "/ec2/"), .authorizationMalformed),
        (right.replacing("aws4_request", with: "aliyun_v4_request"), .authorizationMalformed),
        (right.replacing("/us-east-1", with: ""), .authorizationMalformed),
        (right.replacing("a/2026", with: "a/b/2026"), .authorizationMalformed),
        (right.replacing("20261121", with: "20261122"), .authorizationMalformed),
        (right.replacing("20261121", with: "2026112"), .authorizationMalformed),
        (right.replacing("20261121", with: ""), .authorizationMalformed),
        (right.replacing("host;", with: ""), .authorizationMalformed),
        (right.replacing("host;", with: "host;host;"), .authorizationMalformed),
        (right.replacing("host;x-amz-content-sha256;", with: "x-amz-content-sha256;host;"), .authorizationMalformed),
        (right.replacing("host;", with: ";host;"), .authorizationMalformed),
        (right.replacing(";x-amz-date", with: ""), .accessDenied),
        (right.replacing("x-amz-content-sha256;", with: ""), .accessDenied),
        (right.replacing("x-amz-date", with: "X-Amz-Date"), .authorizationMalformed),
    ]

    @Test(arguments: malformed)
    func saysWhatCannotBeRead(field: String, code: StoreError.Code) throws {
        var fields = Self.sent
        fields.append("Authorization", "AWS4-HMAC-SHA256 " + field)
        let request = SignedRequest(
            method: "GET", target: try RequestTarget("/b-1/k", host: "h", domains: []), fields: fields)
        #expect { try read(request) } throws: { ($0 as? StoreError)?.code == code }
    }

    private static let authorized = ("Authorization", "AWS4-HMAC-SHA256 " + right)
    private static let query =
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a/\(scope)&X-Amz-Date=20261121T000000Z&X-Amz-Expires=900"
        + "&X-Amz-SignedHeaders=host&X-Amz-Signature=00"
    private static let other: [(HTTPFields, String, StoreError.Code)] = [
        ([:], "", .accessDenied),
        (["Authorization": "AWS4-HMAC-SHA256"], "", .invalidRequest),
        (["Authorization": "AWS a:b"], "", .invalidRequest),
        (["Authorization": "AWS4-ECDSA-P256-SHA256 \(right)"], "", .invalidRequest),
        (["Authorization": authorized.1, "x-amz-date": "20261121T000000Z"], "", .invalidRequest),
        (["Authorization": authorized.1, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"], "", .authorizationMalformed),
        (
            [
                "Authorization": authorized.1, "x-amz-content-sha256": "x",
                "x-amz-date": "Sat, 21 Nov 2026 00:00:00 GMT",
            ],
            "", .authorizationMalformed
        ),
        (
            ["Authorization": authorized.1, "x-amz-content-sha256": "x", "x-amz-date": "20261121T250000Z"], "",
            .authorizationMalformed
        ),
        (["Authorization": authorized.1], query, .invalidArgument),
        (["Authorization": authorized.1, "authorization": authorized.1], "", .invalidArgument),
        (["Authorization": authorized.1], "Signature=x", .invalidArgument),
        ([:], query + "&x-oss-signature=y", .invalidArgument),
        ([:], "AWSAccessKeyId=a&Signature=b&Expires=1", .invalidRequest),
        ([:], query + "&X-Amz-Signature=01", .authorizationMalformed),
        ([:], query + "&X-Amz-Date=20261121T000000Z", .authorizationMalformed),
        ([:], query.replacing("X-Amz-Algorithm=AWS4", with: "X-Amz-Algorithm=OSS4"), .authorizationMalformed),
        ([:], query.replacing("Expires=900", with: "Expires=0"), .authorizationMalformed),
        ([:], query.replacing("Expires=900", with: "Expires=-1"), .authorizationMalformed),
        ([:], query.replacing("Expires=900", with: "Expires=604801"), .authorizationMalformed),
        ([:], query.replacing("Expires=900", with: "Expires="), .authorizationMalformed),
        ([:], query.replacing("Expires=900", with: "Expires=9e2"), .authorizationMalformed),
        ([:], query.replacing("SignedHeaders=host", with: "SignedHeaders="), .authorizationMalformed),
        ([:], query.replacing("X-Amz-Date", with: "x-amz-date"), .authorizationMalformed),
        ([:], query.replacing("/s3/", with: "/sts/"), .authorizationMalformed),
        (["x-amz-security-token": "t"], query, .accessDenied),
        (["x-amz-content-sha256": "UNSIGNED-PAYLOAD"], query, .accessDenied),
    ]

    @Test(arguments: other)
    func saysWhatIsMissingOrTooMuch(fields: HTTPFields, query: String, code: StoreError.Code) throws {
        let target = try RequestTarget("/b-1/k" + (query.isEmpty ? "" : "?" + query), host: "h", domains: [])
        let request = SignedRequest(method: "GET", target: target, fields: fields)
        #expect { try read(request) } throws: { ($0 as? StoreError)?.code == code }
    }

    @Test(arguments: ["", "zz", "00", String(repeating: "0", count: 4096), String(repeating: "F", count: 64), "🤷"])
    func takesAnySignatureTextAndMatchesNone(signature: String) throws {
        var fields = Self.sent
        fields.append("Authorization", "AWS4-HMAC-SHA256 " + Self.right.replacing("=00", with: "=\(signature)"))
        let request = SignedRequest(
            method: "GET", target: try RequestTarget("/b-1/k", host: "h", domains: []), fields: fields)
        #expect(try !isSigned(request))
    }
}
