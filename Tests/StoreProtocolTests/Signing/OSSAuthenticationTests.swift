import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct OSSAuthenticationTests {
    private static let vectors = SignatureVectors.oss
    private let secret = Secret(Self.vectors.secret)

    @Test(arguments: vectors.vectors)
    func takesWhatTheClientsSign(vector: SignatureVectors.Vector) throws {
        let request = try vector.request()
        #expect(request.target.bucket == vector.bucket)
        #expect(request.target.key == vector.key)
        let authentication = try OSSAuthentication(request: request).read()
        #expect(authentication.accessKeyID == Self.vectors.accessKeyID)
        #expect(authentication.securityToken == Self.vectors.securityToken)
        #expect(authentication.isSigned(request, by: secret))
        #expect(!authentication.isSigned(request, by: Secret("another")))
        let expiry = UnixTime(seconds: Self.vectors.signedAt + 900)
        #expect(authentication.expiresAt == (vector.mode == "presigned" ? expiry : nil))
    }

    /// No signed part can be changed: the key, a parameter, a field, the method, the scope, the date, the token.
    @Test(arguments: vectors.vectors)
    func refusesWhatWasChanged(vector: SignatureVectors.Vector) throws {
        let path = vector.target.prefix { $0 != "?" }
        var changed = [
            try vector.request(target: path + "x" + vector.target.dropFirst(path.count)),
            try vector.request(fields: ["x-oss-forbid-overwrite": "true"]),
            try vector.request(target: vector.target + (vector.target.contains("?") ? "&" : "?") + "uploadId=9"),
        ]
        let honest = try vector.request()
        changed.append(try vector.request(method: "DELETE"))
        let replaced =
            vector.version == "v4"
            ? [("cn-test/", "cn-best/"), ("T080910Z", "T080911Z"), ("dG9rZW4", "dG9rZW5")] : [("08:09:10", "08:09:11")]
        for (old, new) in replaced {
            let fields = vector.headers.mapValues { $0.replacing(old, with: new) }
            let request = try vector.request(target: vector.target.replacing(old, with: new), fields: fields)
            if request.target != honest.target || request.fields != honest.fields { changed.append(request) }
        }
        for request in changed {
            let authentication = try OSSAuthentication(request: request).read()
            #expect(!authentication.isSigned(request, by: secret))
        }
    }

    private func request(_ fields: HTTPFields, target: String = "/b-1/k", method: String = "GET") throws
        -> SignedRequest
    {
        SignedRequest(method: method, target: try RequestTarget(target, host: "h", domains: []), fields: fields)
    }

    @Test func takesTheSameBytesHoweverTheyAreWritten() throws {
        let v4 = try #require(
            Self.vectors.vectors.first { $0.version == "v4" && $0.mode == "header" && $0.key == "ü/日本//x/" })
        for path in ["/b-1/%c3%bc/%e6%97%a5%E6%9C%AC//x/", "/b-1/%C3%BC%2F%E6%97%A5%E6%9C%AC%2f%2fx%2F"] {
            let query = v4.target.drop { $0 != "?" }
            let request = try v4.request(target: path + query)
            #expect(try OSSAuthentication(request: request).read().isSigned(request, by: secret))
        }
    }

    @Test func ignoresBlanksAndOrderInTheAuthorization() throws {
        let vector = try #require(
            Self.vectors.vectors.first { $0.version == "v4" && $0.headers["Authorization"]?.contains("range") == true })
        let field = try #require(vector.headers["Authorization"])
        let items = field.dropFirst("OSS4-HMAC-SHA256 ".count).split(separator: ",")
        let other = "OSS4-HMAC-SHA256 " + items.reversed().joined(separator: ",  ")
        let request = try vector.request(fields: ["Authorization": other])
        #expect(try OSSAuthentication(request: request).read().isSigned(request, by: secret))
    }

    /// The Go client signs V1 over every query parameter, sorted, whether it is a sub-resource or not.
    @Test func takesV1OverEveryParameter() throws {
        let date = "Sat, 21 Nov 2026 08:09:10 GMT"
        let text = "GET\n\n\n\(date)\nx-oss-security-token:t\n/b-1/k?max-parts=1&part-number-marker&uploadId=U 1"
        let signature = Base64.encode(HMAC.sha1(key: secret.exposed, Array(text.utf8)))
        let request = try request(
            ["Date": date, "X-Oss-Security-Token": "t", "Authorization": "OSS AK:\(signature)"],
            target: "/b-1/k?uploadId=U%201&part-number-marker=&max-parts=1")
        #expect(try OSSAuthentication(request: request).read().isSigned(request, by: secret))
    }

    @Test func joinsRepeatedFieldsAndParameters() throws {
        let request = try request(
            ["x-oss-meta-a": "1", "X-OSS-Meta-A": "2", "Content-Type": "t"], target: "/b-1/k?b=2&a&b=1")
        let v4 = OSSSignatureV4(scope: .init(day: "20261121", region: ""), date: "", signedFields: [])
        #expect(
            v4.canonicalRequest(request)
                == "GET\n/b-1/k\na&b=1&b=2\ncontent-type:t\nx-oss-meta-a:1,2\n\n\nUNSIGNED-PAYLOAD")
    }

    @Test func signsTheBucketOfAVirtualHost() throws {
        let target = try RequestTarget("/k", host: "b-1.oss-x.example.com:80", domains: ["oss-x.example.com"])
        #expect(SignedRequest(method: "GET", target: target, fields: [:]).resource == "/b-1/k")
    }

    private static let scope = "20261121//oss/aliyun_v4_request"
    private static let malformed: [(HTTPFields, String, StoreError.Code)] = [
        ([:], "", .accessDenied),
        (["Authorization": "AWS4-HMAC-SHA256 Credential=a"], "", .invalidArgument),
        (["Authorization": "OSS a:b"], "", .invalidArgument),
        (["Authorization": "OSS a:b", "Date": "yesterday"], "", .invalidArgument),
        (["Authorization": "OSS a", "Date": "Sat, 21 Nov 2026 08:09:10 GMT"], "", .invalidArgument),
        (["Authorization": "OSS4-HMAC-SHA256 Credential=a/\(scope),Signature=00"], "", .invalidArgument),
        (
            ["Authorization": "OSS4-HMAC-SHA256 Credential=a/\(scope)", "x-oss-date": "20261121T000000Z"], "",
            .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/\(scope),Signature=00,Signature=01",
                "x-oss-date": "20261121T000000Z",
            ], "", .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/\(scope),Signature=00",
                "x-oss-date": "20261122T000000Z",
            ], "", .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/\(scope),Signature=00",
                "x-oss-date": "20261121T000000Z", "x-oss-content-sha256": "STREAMING",
            ], "", .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/20261121//s3/aliyun_v4_request,Signature=00",
                "x-oss-date": "20261121T000000Z",
            ], "", .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/20261121//oss/aws4_request,Signature=00",
                "x-oss-date": "20261121T000000Z",
            ], "", .invalidArgument
        ),
        (
            [
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/20261121/oss/aliyun_v4_request,Signature=00",
                "x-oss-date": "20261121T000000Z",
            ], "", .invalidArgument
        ),
        (["Authorization": "OSS4-HMAC-SHA256"], "", .invalidArgument),
        (["Authorization": "OSS4-HMAC-SHA256 "], "", .invalidArgument),
        (["Authorization": "oss a:b", "Date": "Sat, 21 Nov 2026 08:09:10 GMT"], "", .invalidArgument),
        (["Authorization": "OSS a:b", "Date": "Sat, 31 Feb 2026 08:09:10 GMT"], "", .invalidArgument),
        (["Authorization": "OSS a:b"], "?X-Amz-Signature=x", .invalidArgument),
        (["Authorization": "OSS a:b"], "?Signature=x", .invalidArgument),
        ([:], "?Signature=x&x-oss-signature=y", .invalidArgument),
        ([:], "?Signature=x&OSSAccessKeyId=a&Expires=-1", .invalidArgument),
        ([:], "?Signature=x&OSSAccessKeyId=a&Expires=1&Expires=2", .invalidArgument),
        ([:], "?x-oss-signature=y", .invalidArgument),
        (
            [:],
            "?x-oss-signature-version=OSS4-HMAC-SHA256&x-oss-signature=0&x-oss-credential=a/\(scope)"
                + "&x-oss-date=20261121T000000Z&x-oss-expires=604801", .invalidArgument
        ),
    ]

    @Test(arguments: malformed)
    func saysWhatCannotBeRead(fields: HTTPFields, query: String, code: StoreError.Code) throws {
        let request = try request(fields, target: "/b-1/k" + query)
        #expect { try OSSAuthentication(request: request).read() } throws: { ($0 as? StoreError)?.code == code }
    }

    @Test func takesAnySignatureTextAndMatchesNone() throws {
        for signature in ["", "zz", "00", String(repeating: "0", count: 4096), "🤷"] {
            let request = try request([
                "Authorization": "OSS4-HMAC-SHA256 Credential=a/\(Self.scope),Signature=\(signature)",
                "x-oss-date": "20261121T000000Z",
            ])
            #expect(try !OSSAuthentication(request: request).read().isSigned(request, by: secret))
        }
    }
}
