import Foundation

/// The text for a person who starts the gateway in a terminal, printed when every listener accepts connections.
struct Greeting {
    let listeners: [(name: String, address: String)]
    let dataDirectory: String
    /// Whether the web listener uses TLS.
    let isSecure: Bool

    /// The lines with line feeds.
    var text: String {
        let password = dataDirectory + "/initial-admin-password"
        let isThere = FileManager.default.fileExists(atPath: password)
        var rows: [(String, String)] = []
        var host = ""
        if let web = listeners.first(where: { $0.name == "web" }) {
            // A listener on all addresses is reachable at the loopback address.
            let address = web.address.replacing("0.0.0.0:", with: "127.0.0.1:").replacing("[::]:", with: "[::1]:")
            let url = "\(isSecure ? "https" : "http")://\(address)"
            rows.append(("console", "\(url)/"))
            host = " --host \(url)"
        }
        rows.append(("user", "admin of system" + (isThere ? ", the password is in \(password)" : "")))
        let signIn = isThere ? " --password-stdin < \(password)" : ""
        rows.append(("sign in", "data-gateway login --user admin\(host)\(signIn)"))
        rows += listeners.map { ($0.name, $0.address) }
        rows.append(("stop", "Ctrl-C"))
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { name, value in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(value)"
        }
        return (["data-gateway is ready"] + lines).map { $0 + "\n" }.joined()
    }
}
