import CommandLineInterface
import Sockets

/// The rules for the certificates of a gateway's listeners.
struct ListenerTrust: Sendable {
    /// The environment variable with the name in the certificates, if it is not the host of the address.
    static let nameVariable = "DATA_GATEWAY_TLS_NAME"

    /// The PEM file of the authorities; `nil` = those that the machine trusts.
    private let file: String?
    /// The DNS name or address in the certificates; `nil` = the host of each address.
    let name: String?
    /// Whether a listener whose use of TLS is not known is expected to use it. It may be cleartext then only on loopback.
    let expectsTLS: Bool
    /// Whether a listener whose use of TLS is not known is expected to be cleartext, as the one that issued the session.
    let expectsCleartext: Bool

    /// - Parameter name: of an option, before the environment and the session.
    init(_ environment: CommandEnvironment, _ session: SignedInSession?, name: String? = nil) {
        let text = environment[CommandEnvironment.authoritiesVariable] ?? session?.authorities
        file = text.flatMap { $0 == "system" ? nil : $0 }
        self.name = name ?? environment[Self.nameVariable] ?? session?.tlsName
        expectsTLS = text != nil || session?.authServer?.isSecure == true
        expectsCleartext = text == nil && session?.authServer?.isSecure == false
    }

    /// The rules of the session of the environment; without a session those of the environment.
    init(current environment: CommandEnvironment) {
        self.init(environment, (try? SessionFile(in: environment).read()) ?? nil)
    }

    /// The authorities for requests by HTTP: a PEM file; `nil` = those that the machine trusts.
    var authorityFile: String? { file }

    /// - Throws: `ClientFailure` if the file cannot be used.
    func authorities() throws(ClientFailure) -> TLSAuthorities {
        do {
            return try TLSAuthorities(file: file)
        } catch {
            throw ClientFailure("\(CommandEnvironment.authoritiesVariable): \(error)", exitCode: .usage)
        }
    }
}
