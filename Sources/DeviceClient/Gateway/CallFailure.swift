import GatewayAPI
import HTTPTypes
import Proto
import RPC
import Wire

/// How a call ended that was not answered OK.
public struct CallFailure: Error, Sendable, Hashable {
    public let status: GRPCStatus
    public let method: MethodDescriptor
    public let server: PeerAddress

    /// The stable code that came with it.
    public var detail: DetailCode? {
        status.details.flatMap { try? ErrorDetail(decoding: $0) }.flatMap { DetailCode(rawValue: $0.code) }
    }
}
