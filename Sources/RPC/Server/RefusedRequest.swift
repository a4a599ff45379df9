package import Crypto
package import HTTPTypes

/// A request that is not a call of a registered method, for the log.
package struct RefusedRequest: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case unknownMethod = "unknown_method"
        case httpMethod = "http_method"
        case contentType = "content_type"
        case headerSize = "header_size"
    }

    package let reason: Reason
    /// The path without its query, at most 200 characters.
    package let path: String
    package let peer: PeerAddress
    /// The client's id of the request, if well-formed.
    package let requestID: RequestID?
}
