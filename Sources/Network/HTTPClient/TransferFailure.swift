import Basics
import CCurl
import HTTPTypes

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

extension Transfer {
    /// The beginning of libcurl's text about a certificate that OpenSSL does not accept.
    private static let certificateProblem = "SSL certificate problem: "

    /// The reason of a stalled transfer.
    var stallReason: String {
        "the server sent and received nothing for \(options.stallTimeout.components.seconds) seconds"
    }

    /// The host of the request's URL, and the port if the URL has one.
    private var authority: String { String(AddressText(url).rest.prefix { $0 != "/" && $0 != "?" }) }

    /// Returns the reason of a failure, without the host that libcurl repeats in some.
    func reason(_ code: CURLcode) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        return switch code {
        case CURLE_COULDNT_CONNECT: "the server does not accept connections"
        // libcurl cannot take a part of a body again for another connection.
        case CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK: "the server closed the connection without a response"
        case CURLE_PEER_FAILED_VERIFICATION where text.contains("subject name"):
            TLSProblem.others(certificateNames(), host: "the host of \(authority)")
        case CURLE_PEER_FAILED_VERIFICATION where text.hasPrefix(Self.certificateProblem):
            "\(TLSProblem.isNotAccepted): \(text.dropFirst(Self.certificateProblem.count)) (\(authority))"
        case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"):
            TLSProblem.isCleartext
        // A server without TLS may close the connection before its answer to the handshake was read.
        case CURLE_SSL_CONNECT_ERROR where ["SSL_ERROR_SYSCALL", "Connection reset"].contains(where: text.contains):
            TLSProblem.endsHandshake
        case CURLE_UNSUPPORTED_PROTOCOL where text.contains("HTTP/0.9"): "the server does not speak HTTP/1.1"
        default: text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        }
    }

    /// Returns the DNS names and addresses in the certificate that the server presented.
    private func certificateNames() -> [String] {
        let field = "X509v3 Subject Alternative Name:"
        var entry = handle.flatMap { curl_server_certificate($0) }
        while let text = entry?.pointee.data.map({ String(cString: $0) }) {
            entry = UnsafePointer(entry?.pointee.next)
            guard text.hasPrefix(field) else { continue }
            return text.dropFirst(field.count).split(separator: ",").compactMap { name in
                name.firstIndex(of: ":").map { String(name[name.index(after: $0)...]) }
            }
        }
        return []
    }
}
