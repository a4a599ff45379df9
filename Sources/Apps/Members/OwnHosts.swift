import Basics
import GRPCWire
import HTTPTypes
package import RPC

/// The host names by which a listener that only this machine reaches is addressed.
///
/// A web page can have its own name lead to this machine after it was loaded (DNS rebinding). A browser then takes the listener for a
/// part of the page's site, and the name in the request is all that shows it.
package struct OwnHosts: Sendable {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)

    /// Further names, in lower case.
    private let names: Set<String>

    /// - Parameter names: the names besides `localhost`, the names below it, and the loopback addresses; separated by commas.
    package init(_ names: String = "") {
        self.names = Set(names.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() })
    }

    /// Whether every name can be one of a host.
    package var areValid: Bool {
        names.allSatisfy { name in
            !name.isEmpty && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || "-.".utf8.contains($0) }
        }
    }

    /// Whether a call names one of the hosts.
    package func include(_ context: CallContext) -> Bool {
        let values = context.metadata.values("host")
        return values.count == 1 && include(values[0])
    }

    /// - Parameter host: the value of the field `host` (RFC 9110, section 7.2).
    func include(_ host: String) -> Bool {
        guard let name = Self.name(of: host.lowercased()) else { return false }
        return name == "localhost" || name.hasSuffix(".localhost") || names.contains(name)
            || Self.loopback.contain(name)
    }

    /// Returns the host without its port, the brackets of an address, and the dot at the end of a complete name; `nil` if something else
    /// than a port follows.
    private static func name(of host: String) -> String? {
        let isBracketed = host.hasPrefix("[")
        guard let end = isBracketed ? host.firstIndex(of: "]") : host.firstIndex(of: ":") ?? host.endIndex else {
            return nil
        }
        let port = isBracketed ? host[end...].dropFirst() : host[end...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        let name = host[..<end]
        if isBracketed { return String(name.dropFirst()) }
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }
}

extension CallContext {
    /// Whether the call comes from this machine, and was not passed on by a proxy on it.
    package var isFromThisMachine: Bool {
        let isForwarded = ["x-forwarded-for", "forwarded", "x-real-ip", "via"].contains { metadata[$0] != nil }
        return peer.isOnThisMachine && !isForwarded
    }
}

extension PeerAddress {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)

    fileprivate var isOnThisMachine: Bool { Self.loopback.contain(host) }
}
