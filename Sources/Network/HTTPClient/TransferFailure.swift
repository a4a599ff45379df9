/// Why an exchange had no reply.
package enum TransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The network's fault, or the server's that went away: the same request may succeed later.
    case connection(String)
    /// A permanent failure: the certificate is not trusted, or the URL is not valid.
    case unusable(String)

    package var description: String {
        switch self {
        case .connection(let reason), .unusable(let reason): reason
        }
    }
}
