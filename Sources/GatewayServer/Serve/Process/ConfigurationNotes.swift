package import Basics
import Capability
package import Configuration
import HTTPTypes
import StoreProtocol

/// Notes on a configuration without faults: what will not work with it, or only with more options.
package enum ConfigurationNotes {
    /// The time before the expiry of the certificate from which it is noted.
    private static let expiryNotice = Duration.seconds(14 * 86_400)

    /// - Returns: sentences without a full stop.
    package static func all(
        _ configuration: Configuration, _ certificates: GatewayCertificates, now: UnixTime
    ) -> [String] {
        names(configuration, certificates) + expiry(certificates, now) + reach(configuration)
    }

    /// The addresses for which the certificate is not.
    private static func names(_ configuration: Configuration, _ certificates: GatewayCertificates) -> [String] {
        guard !certificates.isEmpty else { return [] }
        var notes: [String] = []
        let names = certificates.names
        let list = names.isEmpty ? "no name" : names.joined(separator: ", ")
        if let endpoint = configuration.publicEndpoint, endpoint.isSecure, configuration.isSecure(.objectStore),
            !certificates.have(name: endpoint.host)
        {
            notes.append(
                "clients refuse the host \(endpoint.host) of object_store.public_endpoint: the certificate has \(list)")
        }
        for (listener, address) in configuration.listeners.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where configuration.isSecure(listener) && !address.isWildcard && !certificates.have(name: address.host) {
            let help = names.first { !$0.hasPrefix("*") }.map { " unless they use --tls-name \($0)" } ?? ""
            notes.append(
                "clients refuse the certificate at \(address), the \(listener.rawValue) listener\(help):"
                    + " the certificate has \(list)")
        }
        if !certificates.areTrustedBySystem {
            notes.append(
                "this machine's authorities do not verify the certificate: clients need that of its own authority"
                    + " (DATA_GATEWAY_CA)")
        }
        return notes
    }

    private static func expiry(_ certificates: GatewayCertificates, _ now: UnixTime) -> [String] {
        guard let expiry = certificates.expiry, expiry < now.adding(expiryNotice) else { return [] }
        let time = RFC3339.text(expiry, nanoseconds: 0)
        return [expiry < now ? "the certificate expired at \(time)" : "the certificate expires at \(time)"]
    }

    /// The listeners for operators that only their own machine reaches, while those for devices are open.
    private static func reach(_ configuration: Configuration) -> [String] {
        let isOpen = [ListenerName.auth, .gateway].contains { configuration.listeners[$0]?.isLoopback == false }
        let local = [ListenerName.admin, .web].compactMap { name in
            configuration.listeners[name].flatMap { $0.isLoopback ? (name.rawValue, $0) : nil }
        }
        guard isOpen, !local.isEmpty else { return [] }
        let forwards = local.map { "-L \($0.1.port):\($0.1)" }.joined(separator: " ")
        return [
            "only this machine reaches the listeners \(local.map(\.0).joined(separator: ", ")): operators elsewhere"
                + " forward their ports (ssh \(forwards))"
        ]
    }
}
