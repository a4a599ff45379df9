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

    /// Whether the device has no such upload: the gateway does not know it, or it belongs to the one that the folder was initialized for
    /// before.
    var isOfUnknownUpload: Bool { detail == .uploadNotFound || detail == .uploadNotOwned }
}
