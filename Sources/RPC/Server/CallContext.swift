import Platform
import Wire

/// What a handler knows about its call beside the message.
///
/// Sendable although two properties can be set: interceptors do so before the handler is started, the handler while it
/// runs, all on the call's loop.
public final class CallContext: @unchecked Sendable {
    public let method: MethodDescriptor
    /// The client's header fields, without those that the protocol itself uses and `user-agent`.
    public let metadata: Metadata
    /// Where the call came from.
    public let peer: PeerAddress
    /// When the client gives up, in nanoseconds of the monotonic clock; `nil` = never.
    public let deadline: UInt64?
    /// Who calls: what an interceptor found out, read through an extension of the room that knows the type.
    public var identity: (any Sendable)?
    /// Whether messages that are sent from now on are compressed, where the client takes that. To be decided before the
    /// first one leaves, if any is to be.
    public var compressesResponses = false

    public init(
        method: MethodDescriptor, metadata: Metadata = Metadata(), peer: PeerAddress = .unknown,
        deadline: UInt64? = nil, identity: (any Sendable)? = nil
    ) {
        self.method = method
        self.metadata = metadata
        self.peer = peer
        self.deadline = deadline
        self.identity = identity
    }
}

/// A socket's address, as text: `127.0.0.1:50051`, `[::1]:50051`.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Without brackets.
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public static let unknown = PeerAddress(host: "", port: 0)

    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
