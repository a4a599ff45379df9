import GatewayErrors
import HTTPTypes
import Proto
import RPC
import Wire

/// A call's error: its response was not OK, or did not arrive.
package struct CallFailure: Error, Sendable, Hashable {
    package let status: GRPCStatus
    package let method: MethodDescriptor
    package let server: PeerAddress

    /// The error code in the response.
    package var detail: DetailCode? {
        status.details.flatMap { try? ErrorDetail(decoding: $0) }.flatMap { DetailCode(rawValue: $0.code) }
    }
}
