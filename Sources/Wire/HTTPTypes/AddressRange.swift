import Basics
import Glibc

/// A block of IP addresses in CIDR notation (RFC 4632, section 3.1; RFC 4291, section 2.3): `192.0.2.0/24`, `2001:db8::/32`, or a
/// single address.
///
/// IPv4 addresses are stored in their IPv6-mapped form (RFC 4291, section 2.5.5.2), so a block matches an IPv4 peer on either kind
/// of socket.
package struct AddressRange: Sendable, Hashable {
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// 16 bytes; the bits after the prefix are 0.
    private let address: [UInt8]
    /// The length of the prefix in bits, of 128.
    private let prefixLength: Int

    /// Returns `nil` for text that is not a block, including a block with a bit set after its prefix, which is ambiguous.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = Self.address(String(parts[0])) else { return nil }
        let width = parts[0].contains(":") ? 128 : 32
        var length = width
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0.isASCIIDigit }),
                let number = Int(digits), number <= width
            else { return nil }
            length = number
        }
        self.address = address
        prefixLength = length + 128 - width
        guard Self.prefix(of: address, prefixLength) == address else { return nil }
    }

    /// Makes the block of the given prefix length that contains `host`; `nil` if it is not an address. A zone (RFC 4007, section
    /// 11) is ignored.
    package init?(around host: String, ipv4: Int, ipv6: Int) {
        guard let address = Self.address(String(host.prefix { $0 != "%" })) else { return nil }
        prefixLength = address.starts(with: Self.mapped) ? ipv4 + 96 : ipv6
        self.address = Self.prefix(of: address, prefixLength)
    }

    /// Whether `host` is an address of the block; false if it is not an address.
    package func contains(_ host: String) -> Bool {
        Self.address(host).map { Self.prefix(of: $0, prefixLength) == address } ?? false
    }

    package static func isAddress(_ host: String) -> Bool {
        address(host) != nil
    }

    /// Returns the address with all bits after the first `length` cleared.
    private static func prefix(of address: [UInt8], _ length: Int) -> [UInt8] {
        address.enumerated().map { index, byte in
            let bits = min(max(length - index * 8, 0), 8)
            return byte & ~UInt8(truncatingIfNeeded: 0xFF >> bits)
        }
    }

    private static func address(_ text: String) -> [UInt8]? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return mapped + withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        return withUnsafeBytes(of: v6) { Array($0) }
    }
}

extension AddressRange: CustomStringConvertible {
    package var description: String {
        let isIPv4 = prefixLength >= 96 && address.starts(with: Self.mapped)
        var characters = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(
            isIPv4 ? AF_INET : AF_INET6, Array(address.dropFirst(isIPv4 ? 12 : 0)), &characters,
            socklen_t(characters.count))
        let text = String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return prefixLength == 128 ? text : "\(text)/\(isIPv4 ? prefixLength - 96 : prefixLength)"
    }

    /// Returns the unit of limits by address: an IPv4 address, or the first 64 bits of an IPv6 address, since a host can choose the
    /// rest (RFC 4291, section 2.5.4). Text that is not an address is returned unchanged.
    package static func countedAsOne(_ host: String) -> String {
        AddressRange(around: host, ipv4: 32, ipv6: 64)?.description ?? host
    }

    /// Returns the block that probably belongs to one owner: `192.0.2.0/24`, `2001:db8:0:100::/56`. Text that is not an address is
    /// returned unchanged.
    package static func neighbourhood(_ host: String) -> String {
        AddressRange(around: host, ipv4: 24, ipv6: 56)?.description ?? host
    }
}

extension [AddressRange] {
    /// Whether one of the blocks contains the address.
    package func contain(_ host: String) -> Bool {
        contains { $0.contains(host) }
    }
}

extension PeerAddress {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
    private static let wildcards = ["0.0.0.0", "::"].compactMap(AddressRange.init)

    /// Whether the host is a loopback address. Names are treated as non-loopback, except `localhost`.
    package var isLoopback: Bool { host == "localhost" || Self.loopback.contain(host) }

    /// Whether the host is the address of all interfaces.
    package var isWildcard: Bool { Self.wildcards.contain(host) }
}
