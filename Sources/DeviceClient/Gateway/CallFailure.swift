import GatewayErrors
import HTTPTypes
import Proto
import RPC
import Wire

/// How a call ended that was not answered OK.
package struct CallFailure: Error, Sendable, Hashable {
    package let status: GRPCStatus
    package let method: MethodDescriptor
    package let server: PeerAddress

    /// The stable code that came with it.
    package var detail: DetailCode? {
        status.details.flatMap { try? ErrorDetail(decoding: $0) }.flatMap { DetailCode(rawValue: $0.code) }
    }
}
