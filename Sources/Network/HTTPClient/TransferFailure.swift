/// Why an exchange had no reply.
package enum TransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The network's fault, or the server's that went away: the same request may succeed later.
    case connection(String)
    /// Nothing that passes: the certificate is not trusted, the URL is none.
    case unusable(String)

    package var description: String {
        switch self {
        case .connection(let reason), .unusable(let reason): reason
        }
    }
}
