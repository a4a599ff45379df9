import Basics
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.timeLimited) struct CredentialClaimsTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    /// From a fixed seed: whatever comes out, nothing may trap.
    @Test func survivesChangedClaims() {
        var generator = Generator(state: 7)
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 1),
            subject: .apiKey(id: "a", epoch: 1))
        let bytes = claims.encoded(keyNumber: 1, nonce: [1, 2, 3])
        #expect(CredentialClaims(decoding: bytes) == claims)
        for _ in 0..<20_000 {
            var changed = bytes
            changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            changed.removeLast(Int.random(in: 0...changed.count, using: &generator))
            _ = CredentialClaims(decoding: changed)
            _ = CredentialClaims.keyNumber(of: changed)
        }
    }
}
