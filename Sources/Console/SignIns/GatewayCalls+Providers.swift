import Basics
import HTTPTypes
import Proto

extension GatewayCalls {
    func providers(for head: HTTPRequestHead) -> CallOutcome<[IdentityProviderInfo]> {
        unary(IdentityServiceMethods.listProviders, ListProvidersRequest(), for: head.caller()) {
            (response: ListProvidersResponse) in response.providers
        }
    }

    func beginSignIn(
        _ provider: String, redirectURI: String, for head: HTTPRequestHead
    ) -> CallOutcome<BeginSignInResponse> {
        let request = BeginSignInRequest(provider: provider, redirectURI: redirectURI)
        return unary(IdentityServiceMethods.beginSignIn, request, for: head.caller()) {
            (response: BeginSignInResponse) in
            response
        }
    }

    func complete(
        _ redirect: ProviderRedirect, secret: String, for head: HTTPRequestHead, at now: UnixTime
    ) -> CallOutcome<(user: User, tokens: UserTokens)> {
        let request = CompleteSignInRequest(
            code: redirect.code, state: redirect.state, flowSecret: secret, issuer: redirect.issuer ?? "")
        return unary(IdentityServiceMethods.completeSignIn, request, for: head.caller()) { (response: LoginResponse) in
            response.user.map { ($0, UserTokens(response, at: now)) }
        }
    }
}
