import Accounts
import Basics
import Capability
import GRPCWire
import GatewayProto
import GatewayTesting
import IdentityTokens
import RPC
import TestSupport
import Testing

@testable import Identity

/// Texts that Swift's `==` does not tell apart: the Kelvin sign is canonically equivalent to "K".
@Suite(.timeLimited) struct ExactTextTests {
    @Test func workloadWithAnEquivalentClaimIsRefused() async throws {
        let identity = try await TestIdentity {
            $0[1].workloads = [WorkloadAccount(account: "uploader", claims: ["repository": "acme/Kite"])]
        }
        let admin = try await identity.world.login().accessToken
        _ = try await identity.world.createUser("uploader", role: "service", token: admin)
        let error = await refusal {
            _ = try await identity.exchange(identity.workloadToken(["repository": "\"acme/\u{212A}ite\""]))
        }
        #expect(error?.message == "no service account accepts the claims of the identity token")
        _ = try await identity.exchange(identity.workloadToken(["repository": "\"acme/Kite\""]))
    }

    @Test func groupWithAnEquivalentNameHasNoRole() async throws {
        let identity = try await TestIdentity { $0[2].people?.roles = ["Keepers": .admin] }
        let error = await refusal {
            try await identity.signIn(identity.corpToken(["groups": "[\"\u{212A}eepers\"]"]))
        }
        #expect(error?.status == .permissionDenied)
        let session = try await identity.signIn(identity.corpToken(["groups": #"["others","Keepers"]"#, "jti": "2"]))
        #expect(session.user?.role == "admin")
    }

    @Test(arguments: [
        (["iss": "\"https://\u{212A}.example.com\""], IdentityTokenError.issuer),
        (["aud": "\"\u{212A}ite\""], .audience),
        (["aud": "[\"Kite\",\"\u{212A}ite\"]"], .otherAudience),
        (["aud": #"["Kite","Kite"]"#, "azp": "\"\u{212A}ite\""], .authorizedParty),
    ])
    func equivalentNamesOfTheRulesAreRefused(_ changes: [String: String], _ expected: IdentityTokenError) throws {
        let issuer = TestIssuer()
        let rules = IdentityTokenRules(issuer: "https://K.example.com", audiences: ["Kite"])
        let claims = ["iss": #""https://K.example.com""#, "aud": #""Kite""#]
        func verify(_ claims: [String: String]) throws -> IdentityToken {
            try rules.verify(
                try SignedToken(parsing: issuer.sign(TestIssuer.claims(claims))), of: .person,
                keys: try issuer.keySet(),
                at: TestIssuer.now)
        }
        #expect(try verify(claims).subject == "ada")
        #expect(throws: expected) { try verify(claims.merging(changes) { $1 }) }
    }

    @Test func mailboxWithAnEquivalentNameIsNotLinked() async throws {
        let identity = try await TestIdentity()
        func address(_ text: String, _ subject: String) -> [String: String] {
            ["email": "\"\(text)\"", "email_verified": "true", "sub": "\"\(subject)\""]
        }
        let kim = try await identity.signIn(identity.corpToken(address("kim@example.com", "1")))
        let other = try await identity.signIn(
            "apple", identity.appleToken(address("\u{212A}im@example.com", "2")))
        #expect(other.user?.userID != kim.user?.userID)
        let same = try await identity.signIn("apple", identity.appleToken(address("Kim@EXAMPLE.com", "3")))
        #expect(same.user?.userID == kim.user?.userID)
    }
}
