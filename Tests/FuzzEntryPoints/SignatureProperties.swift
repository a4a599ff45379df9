import Crypto
import HTTPTypes
import StoreProtocol

/// Properties of the readers of signatures in requests and forms.
enum SignatureProperties {
    private static let secret = Secret("secret-of_43~chars")

    /// Requests signed by oss2 and boto3, with header fields and as URLs, in each version; fields of forms; and requests that are
    /// refused. The first line has the method and the target, the others have header fields.
    static let seeds: [[UInt8]] =
        [
            """
            GET \(path)
            x-oss-date: 20261121T080910Z
            Date: Sat, 21 Nov 2026 08:09:10 GMT
            x-oss-security-token: dG9rZW4_-x
            x-oss-content-sha256: UNSIGNED-PAYLOAD
            Authorization: OSS4-HMAC-SHA256 Credential=\(id)/20261121//oss/aliyun_v4_request,\
            Signature=55dcdc3d0ecaa94b0131064dc33a3ab9151afc796785784b6ef0826b30101aae
            """,
            """
            GET \(path)?x-oss-signature-version=OSS4-HMAC-SHA256&x-oss-date=20261121T080910Z&x-oss-expires=900&\
            x-oss-credential=\(id)%2F20261121%2F%2Foss%2Faliyun_v4_request&x-oss-security-token=dG9rZW4_-x&\
            x-oss-signature=d8488caa286cf1a8e601ccf0130e1d039ee7b11083392d21ac70f21750e37c47
            """,
            """
            GET \(path)
            Date: Sat, 21 Nov 2026 08:09:10 GMT
            security-token: dG9rZW4_-x
            Authorization: OSS \(id):GTrzYLReQ6KK7BJAKt5WW455mx4=
            """,
            "GET \(path)?OSSAccessKeyId=\(id)&Expires=1795249450&security-token=dG9rZW4_-x&Signature=s1EzgQnfJPzVBWZr20aliHbIjD0%3D",
            """
            GET \(path)
            Host: 127.0.0.1:50080
            X-Amz-Date: 20261121T080910Z
            X-Amz-Security-Token: dG9rZW4_-x
            X-Amz-Content-SHA256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
            Authorization: AWS4-HMAC-SHA256 Credential=\(id)/20261121/us-east-1/s3/aws4_request, \
            SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, \
            Signature=486dd16170c4f85f63e2d229253aae44ec02bca91d51d06d8175830ceaea94c8
            """,
            """
            GET \(path)?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=\(id)%2F20261121%2Fus-east-1%2Fs3%2F\
            aws4_request&X-Amz-Date=20261121T080910Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&\
            X-Amz-Security-Token=dG9rZW4_-x&X-Amz-Signature=\
            cd59fe0472915d00ebc7e9be21fbb93ecafc4cba23f9dde5751f0c3ac573f607
            Host: 127.0.0.1:50080
            """,
            """
            POST /b-1
            policy: e30=
            x-amz-algorithm: AWS4-HMAC-SHA256
            x-amz-credential: \(id)/20261121/us-east-1/s3/aws4_request
            x-amz-date: 20261121T080910Z
            x-amz-signature: 486dd16170c4f85f63e2d229253aae44ec02bca91d51d06d8175830ceaea94c8
            """,
            "POST /b-1\npolicy: e30=\nossaccesskeyid: \(id)\nsignature: GTrzYLReQ6KK7BJAKt5WW455mx4=", "GET /",
            "PUT /b-1/k\nAuthorization: AWS x:y",
        ].map { Array($0.utf8) }

    private static let key = "uploads/2026/11/21/019aa"
    private static let path = "/b-1/" + key
    private static let id = "STS.0123456789ABCDEF01234567"

    /// Without these, the property below would hold for a verifier that refuses everything.
    private static let areSeedsSigned = seeds.prefix(6).allSatisfy(verifies)

    /// Checks that only the requests above verify: a request with a valid signature asks for the same, whatever else was changed.
    static func check(_ input: [UInt8]) {
        precondition(areSeedsSigned, "a request as a client signed it does not verify")
        _ = verifies(input)
    }

    private static func verifies(_ input: [UInt8]) -> Bool {
        var lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let first = lines.removeFirst().split(separator: " ", maxSplits: 1).map(String.init)
        guard first.count == 2 else { return false }
        var fields = HTTPFields()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields.append(String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        if let form = try? FormAuthentication(fields) {
            precondition(!form.isSigned(by: secret), "a form with another signature verifies")
        }
        guard let target = try? RequestTarget(first[1], host: fields["host"] ?? "", domains: ["example.com"]) else {
            return false
        }
        let request = SignedRequest(method: first[0], target: target, fields: fields)
        let dialects: [any StoreDialect] = [OSSDialect(), S3Dialect(publicAuthority: nil)]
        for dialect in dialects {
            _ = try? dialect.operation(of: request)
            _ = try? dialect.payload(of: request, .chunked, nil)
            guard let authentication = try? dialect.authentication(of: request) else { continue }
            precondition(!authentication.isSigned(request, by: Secret("another")), "anybody can sign")
            guard authentication.isSigned(request, by: secret) else { continue }
            precondition(
                request.method == "GET" && target.bucket == "b-1" && target.key == key,
                "a request with another signature verifies")
            return true
        }
        return false
    }
}
