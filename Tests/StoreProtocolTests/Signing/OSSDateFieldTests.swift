import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

/// Version 4 of OSS's signature over the `Date` field, as in aliyun-oss-go-sdk 3.0.2 and ossutil 1.
@Suite(.timeLimited) struct OSSDateFieldTests {
    private static let date = "Sun, 22 Nov 2026 08:09:10 GMT"
    private static let scope = "20261122/cn-test/oss/aliyun_v4_request"
    /// Computed with Python's hmac from the rules for the string to sign.
    private static let signature = "5c609bbe8e61985e25f7951a58d540a2d0129484bc0e1227952cf0b3c58c8e70"
    private let secret = Secret("secret-1")

    private func request(_ date: HTTPFields, scope: String = scope) throws -> SignedRequest {
        var fields: HTTPFields = [
            "Content-Type": "application/octet-stream", "x-oss-content-sha256": "UNSIGNED-PAYLOAD",
            "x-oss-security-token": "dG9rZW4=",
            "Authorization": "OSS4-HMAC-SHA256 Credential=AK/\(scope),Signature=\(Self.signature)",
        ]
        for field in date.fields { fields.append(field.name, field.value) }
        let target = try RequestTarget("/b-1/k%20ey/%C3%BC?uploadId=U&partNumber=1", host: "h", domains: [])
        return SignedRequest(method: "PUT", target: target, fields: fields)
    }

    @Test func signatureOverDateIsAccepted() throws {
        let request = try request(["Date": Self.date])
        let authentication = try OSSAuthentication(request: request).read()
        #expect(authentication.isSigned(request, by: secret))
        #expect(authentication.signedAt == Timestamps.parseHTTP(Self.date))
        #expect(authentication.securityToken == "dG9rZW4=")
    }

    @Test func otherDateOfTheSameDayDoesNotMatch() throws {
        let request = try request(["Date": "Sun, 22 Nov 2026 08:09:11 GMT"])
        #expect(try !OSSAuthentication(request: request).read().isSigned(request, by: secret))
    }

    @Test func ossDateWinsOverDate() throws {
        let request = try request(["Date": Self.date, "x-oss-date": "20261122T080911Z"])
        let authentication = try OSSAuthentication(request: request).read()
        #expect(authentication.signedAt == Timestamps.parseBasic("20261122T080911Z"))
        #expect(!authentication.isSigned(request, by: secret))
    }

    @Test(
        arguments: [
            (
                ["Date": "Sun, 22 Nov 2026 08:09:10 GMT"], "20261121/cn-test/oss/aliyun_v4_request",
                "scope is 20261121"
            ),
            (["Date": "22 November 2026"], scope, "The Date of the request"),
            (["x-oss-date": "Sun, 22 Nov 2026 08:09:10 GMT", "Date": date], scope, "The x-oss-date of the request"),
            ([:], scope, "must have an x-oss-date or a Date field"),
        ] as [(HTTPFields, String, String)])
    func unreadableDateIsRefused(date: HTTPFields, scope: String, explanation: String) throws {
        let request = try request(date, scope: scope)
        #expect {
            try OSSAuthentication(request: request).read()
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .invalidArgument && error?.message.contains(explanation) == true
        }
    }
}
