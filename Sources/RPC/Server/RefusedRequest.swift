import Crypto
import HTTPTypes

/// A request that is no call of any method here, for the log.
package struct RefusedRequest: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case unknownMethod = "unknown_method"
        case httpMethod = "http_method"
        case contentType = "content_type"
        case headerSize = "header_size"
    }

    package let reason: Reason
    /// Without its query, at most 200 characters of it.
    package let path: String
    package let peer: PeerAddress
    /// The client's name for it, where that is well-formed.
    package let requestID: RequestID?
}
