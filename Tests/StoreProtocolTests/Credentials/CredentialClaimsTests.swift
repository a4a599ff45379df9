import Basics
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct CredentialClaimsTests {
    /// Presigned URLs of the version before organizations may be valid for days after an update.
    @Test func credentialsOfTheEarlierVersionAreKnown() throws {
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 1),
            holder: .init(.apiKey(id: "a", epoch: 1), of: 7))
        var bytes = claims.encoded(keyNumber: 3, nonce: [1, 2, 3])
        bytes[0] = 1
        // The organization follows the version, the operations, the key's number and the expiry.
        bytes.removeSubrange(14..<22)
        let decoded = try #require(CredentialClaims(decoding: bytes))
        #expect(decoded.holder.organizationID == nil && decoded.subject == claims.subject && decoded.key == "k")
        #expect(CredentialClaims.keyNumber(of: bytes) == 3)
    }

    @Test func workIsChargedToTheOrganization() {
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 1),
            holder: .init(.apiKey(id: "a", epoch: 1), of: 7))
        #expect(claims.workOwner.group == .organization(7))
        #expect(WorkOwner.staticKey("a").group != WorkOwner.staticKey("b").group)
    }

    /// From a fixed seed: no change may cause a trap.
    @Test func changedClaimsNeverTrap() {
        var generator = SeededGenerator(seed: 7)
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 1),
            holder: .init(.apiKey(id: "a", epoch: 1), of: 7))
        let bytes = claims.encoded(keyNumber: 1, nonce: [1, 2, 3])
        #expect(CredentialClaims(decoding: bytes) == claims)
        for _ in 0..<20_000 {
            var changed = bytes
            changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            changed.removeLast(Int.random(in: 0...changed.count, using: &generator))
            let number = CredentialClaims.keyNumber(of: changed)
            #expect(CredentialClaims(decoding: changed) == nil || number != nil)
        }
    }
}
