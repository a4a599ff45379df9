/// The reason why an exchange had no response.
package enum TransferFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A failure of the network, or a lost server: the same request may succeed later.
    case connection(String)
    /// A permanent failure: the certificate is not trusted, or the URL is not valid.
    case unusable(String)

    package var description: String {
        switch self {
        case .connection(let reason), .unusable(let reason): reason
        }
    }
}
