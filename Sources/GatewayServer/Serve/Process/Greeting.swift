import Capability
import Configuration
import Glibc
import HTTPTypes
import Sockets

/// The text for a person who starts the gateway in a terminal, printed when every listener accepts connections.
struct Greeting {
    let listeners: [(name: String, address: String)]
    let dataDirectory: String
    let signIn: SignInCommand

    /// The lines with line feeds.
    var text: String {
        let password = dataDirectory + "/initial-admin-password"
        let hasPasswordFile = access(password, F_OK) == 0
        var rows: [(String, String)] = []
        if let url = signIn.webURL { rows.append(("console", "\(url)/")) }
        rows.append(("user", "admin of system" + (hasPasswordFile ? ", the password is in \(password)" : "")))
        if let command = signIn.text {
            rows.append(("sign in", command + (hasPasswordFile ? " --password-stdin < \(password)" : "")))
        }
        rows += listeners.map { ($0.name, $0.address) }
        rows.append(("stop", "Ctrl-C"))
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { name, value in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(value)"
        }
        return (["data-gateway is ready"] + lines).map { $0 + "\n" }.joined()
    }
}

/// The command with which the first administrator signs in on the gateway's machine.
struct SignInCommand {
    /// The URL of the web listener; `nil` = it is off.
    let webURL: String?
    /// `nil` if nobody can sign in by command, since the auth listener is off.
    let text: String?

    init(
        _ addresses: [ListenerName: PeerAddress], _ configuration: Configuration, _ certificates: GatewayCertificates
    ) {
        /// Returns the URL, and the name that the certificate is checked for if that is not the URL's host.
        func place(of name: ListenerName) -> (url: String, tlsName: String?)? {
            guard let bound = addresses[name] else { return nil }
            let address = bound.reachable
            guard configuration.isSecure(name) else { return ("http://\(address)", nil) }
            let other = certificates.names.first { !$0.hasPrefix("*") }
            guard let other, !certificates.have(name: address.host) else { return ("https://\(address)", nil) }
            guard bound.isLoopback else { return ("https://\(PeerAddress(host: other, port: address.port))", nil) }
            return ("https://\(address)", other)
        }
        let web = place(of: .web)
        webURL = web?.url
        guard let auth = place(of: .auth) else {
            text = nil
            return
        }
        let (option, target) = web.map { ("--host", $0) } ?? ("--auth-server", auth)
        let needsFile =
            (configuration.isSecure(.auth) || web != nil && configuration.isSecure(.web))
            && !certificates.areTrustedBySystem
        // The certificate itself is enough for a client as its authority.
        let file = needsFile ? configuration.tls?.files.certificate : nil
        text =
            (file.map { "DATA_GATEWAY_CA=\($0) " } ?? "") + "data-gateway login --user admin \(option) \(target.url)"
            + (target.tlsName.map { " --tls-name \($0)" } ?? "")
    }
}

extension PeerAddress {
    /// The address for clients on the same machine: that of loopback, if it is all addresses.
    fileprivate var reachable: PeerAddress {
        isWildcard ? PeerAddress(host: isBracketed ? "::1" : "127.0.0.1", port: port) : self
    }
}
