/// The descriptions of failed TLS connections, which are the same for all clients.
package enum TLSProblem {
    /// The server answers without TLS.
    package static let isCleartext = "the server does not use TLS at this port: use http:// if it is the right one"
    /// The server closed the connection in the handshake.
    package static let endsHandshake =
        "the server closed the connection during the TLS handshake: use http:// if it does not use TLS"
    /// The beginning of the description of a certificate that no trusted authority signed, or that is not valid now.
    package static let isNotAccepted = "the server's certificate is not accepted"
    /// The part of the description of a certificate for other hosts before their names.
    package static let isForOthers = "the server's certificate is for"

    /// The certificate is not for the server's host.
    ///
    /// - Parameter names: the DNS names and addresses in the certificate.
    package static func others(_ names: [String], host: String) -> String {
        "\(isForOthers) \(names.isEmpty ? "no host" : names.joined(separator: ", ")), not for \(host)"
    }
}
