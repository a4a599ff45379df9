import Basics
import Crypto
import GatewayAPI
import TestSupport
import Testing

@testable import Accounts

/// Arbitrary text in place of a token is refused and never causes a trap. Seeded, so that failures are reproducible.
@Suite(.timeLimited) struct AccountsFuzzTests {
    private let now = UnixTime(seconds: 1_800_000_000)

    @Test func changedTokensAreRefused() {
        let signer = TokenSigner(keys: SigningKeys([SigningKey(ES256Key())]))
        let token = AccessToken(kind: .apiKey, subject: "k", epoch: 1, expiresAt: now.adding(seconds: 900))
        let text = signer.issue(token, at: now)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let changed = generator.change(text)
            #expect(signer.verify(changed, at: now) == nil || changed == text, "\(changed)")
        }
    }

    @Test func changedCredentialsAreAnotherSecretOrNone() {
        let token = OpaqueToken(.apiKey, id: "0193f3a0-0000-7000-8000-000000000001")
        let digest = token.digest(pepper: [1])
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            let changed = generator.change(token.text)
            guard changed != token.text, let parsed = OpaqueToken(.apiKey, text: changed) else { continue }
            #expect(parsed.digest(pepper: [1]) != digest, "\(changed)")
        }
    }

    @Test func changedPageTokensDoNotOpen() {
        let tokens = PageTokens(keyring: Keyring(root: Secret([1])))
        let text = tokens.seal("260427-000001", scope: "devices")
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3000 {
            let changed = generator.change(text)
            #expect(tokens.open(changed, scope: "devices") == nil || changed == text, "\(changed)")
        }
    }

    @Test func changedJSONIsReadOrRefused() {
        let text = #"{"iss":"data-gateway","exp":1800000900,"epoch":0}"#
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<3000 {
            guard let members = FlatJSON.decode(Array(generator.change(text).utf8)) else { continue }
            let again = FlatJSON.encode(members.map { (name: $0.key, value: $0.value) })
            #expect(FlatJSON.decode(Array(again.utf8)) == members)
        }
    }
}

extension SeededGenerator {
    /// Replaces, inserts, removes or cuts at one to three positions.
    fileprivate mutating func change(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0...Int.random(in: 0..<3, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0: bytes[place] = UInt8(Int.random(in: 0..<256, using: &self))
            case 1: bytes.insert(UInt8(Int.random(in: 0..<128, using: &self)), at: place)
            case 2: bytes.remove(at: place)
            case 3: bytes[place] ^= 1 << UInt8(Int.random(in: 0..<8, using: &self))
            default: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &self))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
