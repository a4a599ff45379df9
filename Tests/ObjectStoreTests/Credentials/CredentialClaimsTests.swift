import Basics
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.timeLimited) struct CredentialClaimsTests {
    /// From a fixed seed: no change may cause a trap.
    @Test func changedClaimsNeverTrap() {
        var generator = SeededGenerator(seed: 7)
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 1),
            subject: .apiKey(id: "a", epoch: 1))
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
