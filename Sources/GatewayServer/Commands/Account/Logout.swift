import Basics
import CommandLineInterface
import EventLoops
import HTTPTypes
import Proto
import Wire

/// `data-gateway logout`
struct Logout: Command {
    static let name = "logout"
    static let summary = "Sign out: end the session at the gateway and delete the session file"

    static var parameters: [Parameter<Self>] {
        [.flag("--json", \.json, "Print an empty JSON object")]
    }

    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let file = try SessionFile(in: environment)
            // A file that cannot be read can still be removed.
            let session = (try? file.read()) ?? nil
            if let session, session.isSignedIn, try !file.isOfDefaultContext(environment) {
                // The context keeps its addresses for the next sign-in.
                try file.write(session.signedOut)
            } else if let session, !session.isSignedIn {
                return Self.reply("you were not signed in")
            } else if try !file.remove() {
                return Self.reply("you were not signed in")
            }
            if let session { await revoke(session, environment) }
            return Self.reply("signed out")
        }
    }

    private static func reply(_ text: String) -> Reply { Reply(json: .object([]), text: text) }

    /// Revokes the session at the gateway. The local session is removed in any case; a failure is a warning.
    private func revoke(_ session: SignedInSession, _ environment: CommandEnvironment) async {
        guard !session.refreshToken.isEmpty, let server = session.authServer else { return }
        do {
            let connection = try await GatewayConnection(
                to: server, trust: ListenerTrust(environment, session), option: "login --auth-server",
                on: EventLoop(name: "client"))
            _ = try await SessionServiceClient(connection).logout(LogoutRequest(refreshToken: session.refreshToken))
        } catch let failure as ClientFailure where failure.status == .unimplemented {
            // A gateway without SessionService cannot revoke tokens; they expire.
        } catch {
            let reason = (error as? ClientFailure)?.message ?? "\(error)"
            environment.errorOutput(
                "data-gateway: the session could not be ended at the gateway and will expire there: \(TextLayout.printable(reason))"
            )
        }
    }
}
