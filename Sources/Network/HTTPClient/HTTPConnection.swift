import Basics
import CCurl
package import HTTPTypes
import Synchronization

/// One connection of an HTTP/1.1 client, opened when needed and kept for further requests.
///
/// libcurl does the work on the connection's own worker. Exchanges run one at a time; further ones wait.
package final class HTTPConnection: Sendable {
    package struct Options: Sendable {
        /// The longest time to open a connection, including TLS.
        package var connectTimeout: Duration = .seconds(10)
        /// The longest time without progress in either direction.
        package var stallTimeout: Duration = .seconds(30)
        /// The longest time for an exchange; `nil` = unlimited while there is progress.
        package var totalTimeout: Duration?
        /// The PEM file of authorities for the certificate of an `https` server; `nil` = those that the system trusts.
        package var authorities: String?
        /// The address to connect to in place of that of the URL, whose host is still the one that the certificate must have; `nil` =
        /// that of the URL.
        package var connectTo: PeerAddress?
        /// The common rate limit for sending bodies over several connections; `nil` = unlimited.
        package var sendLimit: RateLimit?
        /// The common rate limit for receiving bodies; `nil` = unlimited.
        package var receiveLimit: RateLimit?

        package init(authorities: String? = nil, sendLimit: RateLimit? = nil) {
            self.authorities = authorities
            self.sendLimit = sendLimit
        }
    }

    /// The largest response body in bytes that is kept if no receiver takes it.
    package static let maximumKeptBody = 8 << 20
    /// The number of bytes kept of the body of an unsuccessful response; the rest, up to `maximumKeptBody`, is dropped.
    package static let maximumKeptError = 64 << 10

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let worker = Worker.serial("http-connection")
    private let options: Options
    /// Used by the worker only; freed with the connection, when no work waits.
    private nonisolated(unsafe) let handle: OpaquePointer?  // used by the worker only

    package init(_ options: Options = Options()) {
        self.options = options
        handle = Self.isReady ? curl_easy_init().map { OpaquePointer($0) } : nil
    }

    deinit {
        if let handle { curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }
    }

    /// Sends a request and waits for the complete response, whatever its status.
    ///
    /// - Parameters:
    ///   - sent: called with the number of body bytes that were just passed to the socket.
    /// - Throws: `TransferFailure`; `FileReader.Failure` of the body's file; `CancellationError` soon after the task was cancelled;
    ///   the error of `receiver`.
    package func exchange(
        _ request: HTTPRequest, receiver: HTTPReceiver? = nil, sent: (@Sendable (Int) -> Void)? = nil
    ) async throws -> HTTPReply {
        let exchange = HTTPExchangeState(
            request, receiver: receiver, sent: sent, limits: (options.sendLimit, options.receiveLimit))
        return try await withTaskCancellationHandler {
            try await worker.run { [self] in try perform(exchange) }
        } onCancel: {
            exchange.cancel()
        }
    }

    private func perform(_ exchange: HTTPExchangeState) throws -> HTTPReply {
        guard let handle else { throw TransferFailure.unusable("libcurl has no memory") }
        let curl = UnsafeMutableRawPointer(handle)
        var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        // Keeps the connection, and resets everything of the previous request.
        curl_easy_reset(curl)
        configure(curl)
        let target = options.connectTo.map { curl_slist_append(nil, "::\($0)") } ?? nil
        curl_set_connect_to(curl, target)
        let fields = exchange.configure(curl)
        defer {
            curl_slist_free_all(fields)
            curl_slist_free_all(target)
        }
        let code = message.withUnsafeMutableBufferPointer { buffer in
            curl_set_pointer(curl, CURLOPT_ERRORBUFFER, buffer.baseAddress)
            defer { curl_set_pointer(curl, CURLOPT_ERRORBUFFER, nil) }
            return curl_easy_perform(curl)
        }
        let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return try exchange.finish(code, reason(code, text, exchange.authority))
    }

    /// The beginning of libcurl's text about a certificate that OpenSSL does not accept.
    private static let certificateProblem = "SSL certificate problem: "

    /// Returns the reason of a failure, without the host that libcurl repeats in some.
    ///
    /// - Parameter authority: the host and port of the URL.
    private func reason(_ code: CURLcode, _ text: String, _ authority: String) -> String {
        switch code {
        case CURLE_COULDNT_CONNECT: "the server does not accept connections"
        case CURLE_SEND_FAIL_REWIND: "the server closed the connection without a response"
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
        var entry = handle.flatMap { curl_server_certificate(UnsafeMutableRawPointer($0)) }
        while let text = entry?.pointee.data.map({ String(cString: $0) }) {
            entry = UnsafePointer(entry?.pointee.next)
            guard text.hasPrefix(field) else { continue }
            return text.dropFirst(field.count).split(separator: ",").compactMap { name in
                name.firstIndex(of: ":").map { String(name[name.index(after: $0)...]) }
            }
        }
        return []
    }

    private func configure(_ curl: UnsafeMutableRawPointer) {
        // The process has several threads, so timeouts must not use signals.
        curl_set_number(curl, CURLOPT_NOSIGNAL, 1)
        curl_set_number(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        // A signature covers the path exactly as written.
        curl_set_number(curl, CURLOPT_PATH_AS_IS, 1)
        curl_set_number(curl, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.milliseconds)
        curl_set_number(curl, CURLOPT_LOW_SPEED_LIMIT, 1)
        curl_set_number(curl, CURLOPT_LOW_SPEED_TIME, max(1, options.stallTimeout.milliseconds / 1000))
        if let limit = options.totalTimeout { curl_set_number(curl, CURLOPT_TIMEOUT_MS, limit.milliseconds) }
        curl_set_number(curl, CURLOPT_TCP_KEEPALIVE, 1)
        curl_set_number(curl, CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024)
        curl_set_number(curl, CURLOPT_BUFFERSIZE, 256 * 1024)
        curl_set_text(curl, CURLOPT_USERAGENT, "data-gateway")
        // For the names in a certificate that is not for the host.
        curl_set_number(curl, CURLOPT_CERTINFO, 1)
        if let authorities = options.authorities { curl_set_text(curl, CURLOPT_CAINFO, authorities) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

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
