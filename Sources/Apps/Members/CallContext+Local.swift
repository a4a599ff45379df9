import GRPCWire
import HTTPTypes
package import RPC

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
