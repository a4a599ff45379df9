import Basics
package import Capability
import FoundationEssentials
package import HTTPTypes
import Settings

/// The addresses of listeners that clients are told where these are not the listeners' own, such as those of a balancer in front of
/// several gateways: the section `listeners.public`.
package struct PublicAddresses: Sendable {
    package struct Address: Sendable, Equatable {
        package let peer: PeerAddress
        package let isSecure: Bool
    }

    /// The listeners whose addresses clients are told.
    package static let listeners: [ListenerName] = [.auth, .gateway, .admin, .deviceInit]

    private var addresses: [ListenerName: Address] = [:]

    init(_ settings: SettingsReader) {
        let section = settings.section("listeners.public")
        for name in Self.listeners {
            let text = section.text(name.settingName, default: "", unit: "URL", bounds: "`http[s]://HOST[:PORT]`")
            if text.isEmpty { continue }
            addresses[name] = Self.address(text)
            if addresses[name] == nil {
                section.reject(name.settingName, "must be http[s]://HOST[:PORT] without a path, not \(text)")
            }
        }
    }

    /// The address of a listener for clients.
    ///
    /// - Parameter own: the listener's own address.
    package func address(of name: ListenerName, own: PeerAddress, isSecure: Bool) -> Address {
        addresses[name] ?? Address(peer: own, isSecure: isSecure)
    }

    /// The listeners of `names` without an address here.
    package func missing(_ names: some Sequence<ListenerName>) -> [ListenerName] {
        Self.listeners.filter { names.contains($0) && addresses[$0] == nil }
    }

    private static func address(_ text: String) -> Address? {
        guard let url = URLComponents(webAddress: text), url.scheme == "http" || url.scheme == "https",
            let host = url.host, !host.isEmpty, ["", "/"].contains(url.path), url.query == nil, url.fragment == nil,
            url.user == nil, url.port.map({ (1...65_535).contains($0) }) != false
        else { return nil }
        let isSecure = url.scheme == "https"
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return Address(peer: PeerAddress(host: bare, port: url.port ?? (isSecure ? 443 : 80)), isSecure: isSecure)
    }
}
