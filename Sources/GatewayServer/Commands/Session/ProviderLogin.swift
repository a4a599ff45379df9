import Basics
import CommandLineInterface
import Foundation
import Proto

/// The sign-ins of `login` without a password.
struct ProviderLogin {
    let service: IdentityServiceClient<GatewayConnection>
    let environment: CommandEnvironment

    /// Signs a person in with a browser on this machine.
    func signIn(at provider: String) async throws -> LoginResponse {
        let redirect = LoopbackRedirect()
        return try await redirect.serve { address in
            let begun = try await service.beginSignIn(BeginSignInRequest(provider: provider, redirectURI: address))
            let query = URLComponents(string: begun.authorizationURL)?.queryItems
            guard let state = query?.first(where: { $0.name == "state" })?.value else {
                throw ClientFailure("the gateway's reply has no address of the identity provider")
            }
            environment.errorOutput("Open this address in a browser on this machine and sign in:\n\n")
            environment.errorOutput("\(TextLayout.printable(begun.authorizationURL))\n")
            let sent = try await redirect.parameters(for: state)
            return try await service.completeSignIn(
                CompleteSignInRequest(
                    code: sent.code, state: state, flowSecret: begun.flowSecret, issuer: sent.issuer))
        }
    }

    /// Exchanges a workload's token.
    ///
    /// - Parameter path: the token's file; `-` = standard input.
    func exchange(tokenIn path: String) async throws -> ExchangeWorkloadTokenResponse {
        let text: String
        if path == "-" {
            text = readLine() ?? ""
        } else {
            do {
                text = String(decoding: try PrivateFile.contents(of: path), as: UTF8.self)
            } catch {
                throw ClientFailure("cannot read the identity token: \(error)", exitCode: .usage)
            }
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw ClientFailure(
                "\(path == "-" ? "standard input" : path) does not have an identity token", exitCode: .usage)
        }
        return try await service.exchangeWorkloadToken(ExchangeWorkloadTokenRequest(identityToken: token))
    }
}
