import Capability
import Commands
import Foundation
import Identity
import Serve
import TestSupport
import Testing

@testable import Configuration

/// The rules for the section `identity`: a mistake in it opens the gateway to strangers, so each is refused by name.
@Suite(.timeLimited) struct IdentityConfigurationTests {
    private static var corp: [String: Any] {
        [
            "issuer": "https://sso.example.com", "audiences": ["gateway"], "client_id": "gateway",
            "users": ["organization": "acme", "roles_claim": "groups", "roles": ["admins": "admin"]],
        ]
    }
    private static var ci: [String: Any] {
        [
            "issuer": "https://ci.example.com", "audiences": ["gateway"],
            "service_accounts": [["account": "uploader", "claims": ["repository": "acme/robots"]]],
        ]
    }

    private func read(_ section: [String: Any]) throws -> Configuration {
        let folder = try TestFolder()
        let path = folder.path + "/gateway.json5"
        try JSONSerialization.data(withJSONObject: ["identity": section]).write(to: URL(filePath: path))
        return try Configuration(ServeOptions(dataDirectory: "", configurationPath: path), apps: Program.apps)
    }

    /// Returns the refusal of a provider with these members instead of its own; `NSNull` removes one.
    private func refusal(of provider: [String: Any], _ changes: [String: Any], name: String = "corp") -> String {
        let members = provider.merging(changes) { $1 }.filter { !($0.value is NSNull) }
        return refusal(["providers": [name: members]])
    }

    private func refusal(_ section: [String: Any]) -> String {
        do {
            _ = try read(section)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func providersOfPeopleAndWorkloadsAreRead() throws {
        let identity = try read([
            "public_url": "https://gateway.example.com:50070", "providers": ["ci": Self.ci, "corp": Self.corp],
        ])[IdentityConfiguration.self]
        #expect(identity.publicURL == "https://gateway.example.com:50070")
        let corp = try #require(identity.providers.first { $0.name == "corp" })
        #expect(corp.people?.roles == ["admins": .admin] && corp.people?.defaultRole == nil)
        // Nothing that lets strangers in is on unless it is said.
        #expect(corp.people?.createsAccounts == false && corp.people?.linksByEmail == false)
        let ci = try #require(identity.providers.first { $0.name == "ci" })
        #expect(ci.people == nil && ci.client == nil && !ci.acceptsWorkloadTokensAgain)
        #expect(ci.workloads.map(\.claims) == [["repository": "acme/robots"]])
    }

    @Test(arguments: [
        "http://sso.example.com", "ftp://sso.example.com", "https://user@sso.example.com", "https://sso.example.com#x",
        "sso.example.com", "http://127.0.0.1.example.com", "http://localhost.example.com",
    ])
    func addressesInCleartextOrWithMoreAreRefused(_ url: String) {
        for key in ["issuer", "keys_url"] {
            #expect(refusal(of: Self.corp, [key: url]).contains("corp.\(key)"), "\(url)")
        }
        #expect(refusal(["public_url": url]).contains("identity.public_url"), "\(url)")
    }

    @Test func lengthOfAnIssuerIsLimited() {
        let longest = "https://sso.example.com/".padding(toLength: 1024, withPad: "x", startingAt: 0)
        #expect(refusal(of: Self.corp, ["issuer": longest]) == "")
        #expect(refusal(of: Self.corp, ["issuer": longest + "x"]).contains("corp.issuer must be at most 1024 bytes"))
    }

    @Test func loopbackAddressesMayBeCleartext() {
        for url in ["http://127.0.0.1:8080", "http://[::1]:8080/x", "http://localhost:8080"] {
            #expect(refusal(of: Self.corp, ["issuer": url]) == "")
        }
    }

    @Test func clientsAndAudiencesBelongTogether() {
        #expect(refusal(of: Self.corp, ["client_id": "other"]).contains("must be one of the audiences"))
        #expect(refusal(of: Self.corp, ["audiences": [String]()]).contains("1 to 100 audiences"))
        #expect(refusal(of: Self.corp, ["scopes": ["email"]]).contains("must contain openid"))
        #expect(refusal(of: Self.ci, ["client_id": "gateway"]).contains("requires users"))
        #expect(refusal(of: Self.corp, ["users": NSNull()]).contains("or service_accounts is required"))
    }

    @Test func rolesNeedAClaimAndServiceIsNone() {
        func users(_ members: [String: Any]) -> String {
            refusal(of: Self.corp, ["users": ["organization": "acme"].merging(members) { $1 }])
        }
        #expect(users([:]).contains("or default_role is required"))
        #expect(users(["roles_claim": "groups"]).contains("and roles_claim must be given together"))
        #expect(users(["roles": ["a": "admin"]]).contains("and roles_claim must be given together"))
        for role in ["service", "owner", "Admin"] {
            #expect(users(["default_role": role]).contains("must be one of"), "\(role)")
            #expect(users(["roles_claim": "g", "roles": ["a": role]]).contains("must be one of"), "\(role)")
        }
        #expect(users(["default_role": "viewer", "creates": true]).contains("creates"))
    }

    @Test func accountOfWorkloadsNeedsAClaim() {
        let open: [String: Any] = ["account": "uploader", "claims": [String: String]()]
        #expect(refusal(of: Self.ci, ["service_accounts": [open]]).contains("at least one claim"))
    }

    @Test(arguments: ["callback", "-corp", "Corp", "a/b", "", String(repeating: "a", count: 33)])
    func providerWithAnotherNameIsRefused(_ name: String) {
        #expect(refusal(of: Self.corp, [:], name: name).contains("a provider's name must be"))
    }

    @Test func issuerBelongsToOneProvider() {
        let section = ["providers": ["first": Self.corp, "second": Self.corp]]
        #expect(refusal(section).contains("must be unique"))
    }
}
