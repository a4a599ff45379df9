import Basics
import GRPCWire
package import HTTPTypes

/// Determines the origin of a call that was passed on by proxies: the last address of `x-forwarded-for` that is not a trusted
/// proxy's; and the name that a proxy gave the call. Both fields are ignored if the sender is not a trusted proxy.
package struct TrustedProxies: Interceptor {
    package let ranges: [AddressRange]

    package init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    package func received(_ context: CallContext) {
        guard ranges.contain(context.peer.host) else { return }
        context.balancedCallID = Self.callID(context.metadata.values("x-call-id"))
        let fields = context.metadata.values("x-forwarded-for")
        context.peer = origin(of: context.peer, forwardedFor: fields)
    }

    /// - Parameters:
    ///   - sender: the socket's address.
    ///   - fields: the values of `x-forwarded-for` in their order; each proxy appends to the value that it received.
    func origin(of sender: PeerAddress, forwardedFor fields: [String]) -> PeerAddress {
        var origin = sender
        var hops = fields.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        while ranges.contain(origin.host), let hop = hops.popLast() {
            // If a proxy names no address, the previous one counts.
            guard let host = Self.address(in: hop.trimmingBlanks) else { break }
            origin = PeerAddress(host: host, port: 0)
        }
        return origin
    }

    /// Returns a call's name: the last value, which is the proxy's. It has at most 64 visible characters of ASCII.
    private static func callID(_ fields: [String]) -> String? {
        guard let id = fields.last, (1...64).contains(id.utf8.count), id.utf8.allSatisfy(\.isASCIIVisible)
        else { return nil }
        return id
    }

    /// Returns the address of an element: alone, in brackets, or with a port.
    private static func address(in hop: String) -> String? {
        if AddressRange.isAddress(hop) { return hop }
        var (host, rest) = (hop[...], Substring())
        if hop.hasPrefix("["), let end = hop.firstIndex(of: "]") {
            host = hop[..<end].dropFirst()
            rest = hop[hop.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else if let colon = hop.firstIndex(of: ":") {
            host = hop[..<colon]
            rest = hop[colon...]
        }
        let isPort = rest.first == ":" && UInt16(rest.dropFirst()) != nil
        return (rest.isEmpty || isPort) && AddressRange.isAddress(String(host)) ? String(host) : nil
    }
}

extension Substring {
    /// The text without the optional whitespace around the elements of a list (RFC 9110, section 5.6.1).
    fileprivate var trimmingBlanks: String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
