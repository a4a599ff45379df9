import GatewayFormats
package import HTTPTypes
import Proto
package import RPC
package import Wire

/// A call's error: its response was not OK, or did not arrive.
package struct CallFailure: Error, Sendable, Hashable {
    package let status: GRPCStatus
    package let method: MethodDescriptor
    package let server: PeerAddress

    /// The error code in the response.
    package var detail: DetailCode? {
        status.details.flatMap { try? ErrorDetail(decoding: $0) }.flatMap { DetailCode(rawValue: $0.code) }
    }

    /// Whether no answer arrived: the address or the network is to blame, or the gateway is overloaded.
    var isOfConnection: Bool { status.code == .unavailable || status.code == .deadlineExceeded }

    /// Whether the device has no such upload: the gateway does not know it, or it belongs to the one that the folder was initialized for
    /// before.
    var isOfUnknownUpload: Bool { detail == .uploadNotFound || detail == .uploadNotOwned }
}

extension CallFailure: CustomStringConvertible {
    package var description: String {
        let code = detail?.rawValue ?? status.code.name
        let message = status.message.isEmpty ? "the call failed" : status.message
        return "\(method.name) at \(server): \(message) (\(code))"
    }
}
