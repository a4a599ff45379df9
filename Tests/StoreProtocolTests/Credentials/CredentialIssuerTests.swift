import Basics
import Crypto
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct CredentialIssuerTests {
    private let keyring = Keyring(root: Secret([UInt8](repeating: 7, count: 32)))
    private let claims = CredentialClaims(
        uploadID: "0199-u", bucket: "bucket", key: "uploads/ü/x", operations: [.read, .write],
        expiresAt: UnixTime(microseconds: 1_800_000_000_123_456), holder: .init(.apiKey(id: "key-1", epoch: -3), of: 7))

    @Test func recognizesItsOwn() throws {
        let issuer = CredentialIssuer(keyring: keyring)
        for subject in [claims.subject, .user(id: .max, epoch: 0)] {
            let claims = CredentialClaims(
                uploadID: claims.uploadID, bucket: claims.bucket, key: claims.key, operations: .read,
                expiresAt: claims.expiresAt, holder: .init(subject, of: 7))
            let issued = issuer.issue(claims)
            let verified = try issuer.verify(accessKeyID: issued.accessKeyID, token: issued.securityToken)
            #expect(verified.claims == claims)
            #expect(verified.secret.matches(issued.secret))
            #expect(issued.expiresAt == UnixTime(seconds: 1_800_000_000))
        }
    }

    @Test func isFreshEachTime() {
        let issuer = CredentialIssuer(keyring: keyring)
        let first = issuer.issue(claims)
        let second = issuer.issue(claims)
        #expect(!first.secret.matches(second.secret))
        #expect(first.accessKeyID != second.accessKeyID)
    }

    @Test func refusesEveryChangedByte() throws {
        let issuer = CredentialIssuer(keyring: keyring)
        let issued = issuer.issue(claims)
        let token = try #require(Base64.decodeURL(issued.securityToken))
        for index in token.indices {
            var changed = token
            changed[index] ^= 1
            #expect(throws: CredentialIssuer.Refusal.malformedToken) {
                try issuer.verify(accessKeyID: issued.accessKeyID, token: Base64.encodeURL(changed))
            }
        }
        for count in 0..<token.count {
            #expect(throws: CredentialIssuer.Refusal.malformedToken) {
                try issuer.verify(
                    accessKeyID: issued.accessKeyID, token: Base64.encodeURL(Array(token.prefix(count))))
            }
        }
    }

    @Test func bindsTokenKeyAndAccessKey() {
        let issuer = CredentialIssuer(keyring: keyring)
        let issued = issuer.issue(claims)
        #expect(throws: CredentialIssuer.Refusal.accessKeyMismatch) {
            try issuer.verify(accessKeyID: issuer.issue(claims).accessKeyID, token: issued.securityToken)
        }
        let other = CredentialIssuer(keyring: Keyring(root: Secret([UInt8](repeating: 8, count: 32))))
        #expect(throws: CredentialIssuer.Refusal.malformedToken) {
            try other.verify(accessKeyID: issued.accessKeyID, token: issued.securityToken)
        }
    }

    @Test func verifiesWithOlderKeysAndNotWithFutureOnes() throws {
        let old = CredentialIssuer(keyring: keyring, keyNumber: 1)
        let new = CredentialIssuer(keyring: keyring, keyNumber: 2)
        let issued = old.issue(claims)
        #expect(try new.verify(accessKeyID: issued.accessKeyID, token: issued.securityToken).claims == claims)
        let future = new.issue(claims)
        #expect(throws: CredentialIssuer.Refusal.malformedToken) {
            try old.verify(accessKeyID: future.accessKeyID, token: future.securityToken)
        }
    }
}
