package import Accounts
import Basics
package import Crypto
import Database
import IdentityTokens

/// An identity provider in the configuration.
package struct IdentityProvider: Sendable {
    /// The gateway's registration at the provider, for sign-ins in a browser.
    package struct Client: Sendable {
        package let id: String
        /// `nil` for a public client, which has none.
        package let secret: Secret?
        /// The scopes that are requested; `openid` is among them.
        package let scopes: [String]

        package init(id: String, secret: Secret?, scopes: [String]) {
            self.id = id
            self.secret = secret
            self.scopes = scopes
        }

        /// Returns the id and the secret for the Authorization field, encoded as in a form (RFC 6749, section 2.3.1); `nil` if
        /// there is no secret, or it is sent in the form.
        func basicPair(for places: ProviderMetadata.SecretPlaces) -> String? {
            guard let secret, places != .form else { return nil }
            let pair = "\(URLEncoding.encode(id)):\(URLEncoding.encode(secret.exposedText))"
            // Some providers do not decode the field. All of them decode a form.
            return places == .both && pair != "\(id):\(secret.exposedText)" ? nil : pair
        }
    }

    /// The name in the configuration and in addresses, e.g. `corp`.
    package let name: String
    /// The name for people.
    package var title: String
    /// The exact `iss` of its tokens; its discovery document is below this URL.
    package let issuer: String
    /// The names by which the provider knows the gateway or its apps.
    package let audiences: Set<String>
    /// The URL of its key set; `nil` = the one of its discovery document.
    package var keysURL: String?
    /// The PEM file of authorities for its certificate; `nil` = those that the system trusts.
    package var authorities: String?
    /// `nil` = no sign-ins in a browser.
    package var client: Client?
    /// The rules for people; `nil` = people cannot sign in.
    package var people: PeopleRules?
    /// The service accounts of workloads, in the order in which they are tried.
    package var workloads: [WorkloadAccount] = []
    /// Whether the token of a workload is accepted more than once, until it expires.
    package var acceptsWorkloadTokensAgain = false

    package init(name: String, issuer: String, audiences: Set<String>) {
        self.name = name
        title = name
        self.issuer = issuer
        self.audiences = audiences
    }

    var tokenRules: IdentityTokenRules { IdentityTokenRules(issuer: issuer, audiences: audiences) }

    /// The organization of its people, in its configuration.
    package var configuredOrganization: ConfiguredOrganization? {
        people.map { ConfiguredOrganization(setting: "identity.providers.\(name).users", name: $0.organization) }
    }
}
