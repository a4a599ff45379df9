import Basics
import CCurl
import HTTPTypes
import Synchronization

/// The state of one exchange for libcurl's callbacks: the request and the response so far.
///
/// Sendable although it is mutable: `isCancelled` is atomic, the rest is used by the connection's worker only, from `configure` to
/// `finish`.
final class HTTPExchangeState: @unchecked Sendable {  // used by the connection's worker only
    /// The number of bytes from which on a body waits until the server asks for it. A server that refuses a request saves the
    /// transfer of such a body; the transfer of a smaller one costs less than the wait.
    static let smallestExpectation: Int64 = 1 << 20

    /// The response so far.
    private struct ArrivedReply {
        var status = 0
        var fields = HTTPFields()
        /// The kept bytes of the body.
        var body: [UInt8] = []
        /// The number of body bytes that arrived, kept or not.
        var bodySize = 0

        /// The number of body bytes to keep.
        var maximumBody: Int {
            (200..<300).contains(status) ? HTTPConnection.maximumKeptBody : HTTPConnection.maximumKeptError
        }

        var complete: HTTPReply { HTTPReply(status: status, fields: fields, body: body) }

        mutating func add(body bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
            bodySize += bytes.count
            guard bodySize <= HTTPConnection.maximumKeptBody else {
                throw TransferFailure.unusable("the server's response is too long")
            }
            // The limit may change after the body: libcurl passes trailers as header lines.
            body += bytes.prefix(max(0, maximumBody - body.count))
        }
    }

    private let request: HTTPRequest
    private let receiver: HTTPReceiver?
    private let sent: (@Sendable (Int) -> Void)?
    private let limits: (send: RateLimit?, receive: RateLimit?)
    private let isCancelled = Atomic(false)

    private var offset: Int64 = 0
    private var reply = ArrivedReply()
    /// Whether the receiver wants the body; `nil` before it was asked.
    private var isReceived: Bool?
    private var failure: (any Error)?

    init(
        _ request: HTTPRequest, receiver: HTTPReceiver?, sent: (@Sendable (Int) -> Void)?,
        limits: (send: RateLimit?, receive: RateLimit?) = (nil, nil)
    ) {
        self.limits = limits
        self.request = request
        self.receiver = receiver
        self.sent = sent
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// - Returns: the request's header fields, to be freed after the exchange.
    func configure(_ curl: UnsafeMutableRawPointer) -> UnsafeMutablePointer<curl_slist>? {
        let context = Unmanaged.passUnretained(self).toOpaque()
        curl_set_text(curl, CURLOPT_URL, request.url)
        switch request.method {
        case "GET": curl_set_number(curl, CURLOPT_HTTPGET, 1)
        case "HEAD": curl_set_number(curl, CURLOPT_NOBODY, 1)
        default:
            curl_set_number(curl, CURLOPT_UPLOAD, 1)
            curl_set_text(curl, CURLOPT_CUSTOMREQUEST, request.method)
            curl_set_size(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(request.body.size))
            // There is no function that rewinds the body, so libcurl does not send it again by itself over another connection:
            // the server may have processed it (RFC 9110, section 9.2.2), and the caller decides.
            curl_set_read(curl) {
                HTTPExchangeState.of($3).read(UnsafeMutableRawBufferPointer(start: $0, count: $1 * $2))
            }
            curl_set_pointer(curl, CURLOPT_READDATA, context)
        }
        curl_set_receive(curl, CURLOPT_HEADERFUNCTION) {
            HTTPExchangeState.of($3).receive(line: UnsafeRawBufferPointer(start: $0, count: $1 * $2))
        }
        curl_set_pointer(curl, CURLOPT_HEADERDATA, context)
        curl_set_receive(curl, CURLOPT_WRITEFUNCTION) {
            HTTPExchangeState.of($3).receive(body: UnsafeRawBufferPointer(start: $0, count: $1 * $2))
        }
        curl_set_pointer(curl, CURLOPT_WRITEDATA, context)
        curl_set_number(curl, CURLOPT_NOPROGRESS, 0)
        curl_set_progress(curl) { context, _, _, _, _ in
            HTTPExchangeState.of(context).isCancelled.load(ordering: .relaxed) ? 1 : 0
        }
        curl_set_pointer(curl, CURLOPT_XFERINFODATA, context)
        var lines = request.fields.fields.map { "\($0.name): \($0.value)" }
        // A name without a value is left out. libcurl otherwise waits a second for `100 Continue`, which many servers never send,
        // before each body.
        if request.body.size < Self.smallestExpectation { lines.append("Expect:") }
        let list = lines.reduce(nil as UnsafeMutablePointer<curl_slist>?) { curl_slist_append($0, $1) ?? $0 }
        curl_set_fields(curl, list)
        return list
    }

    /// The host of the request's URL, and the port if the URL has one.
    var authority: String { String(AddressText(request.url).rest.prefix { $0 != "/" && $0 != "?" }) }

    /// Returns the response, or throws the error of the exchange.
    func finish(_ code: CURLcode, _ message: String) throws -> HTTPReply {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
        if let failure { throw failure }
        switch code {
        case CURLE_OK:
            // Without a body, the receiver was not asked yet.
            if isReceived == nil { _ = try receiver?.wants(reply.status, reply.fields) }
            return reply.complete
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            throw TransferFailure.unusable(message)
        // A server that refuses without reading the body may close at once; its response is used.
        case CURLE_SEND_ERROR where reply.status >= 400:
            return reply.complete
        default:
            throw TransferFailure.connection(message)
        }
    }

    // MARK: libcurl's callbacks

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPExchangeState {
        guard let context else { preconditionFailure("libcurl lost the exchange it was given") }
        return Unmanaged<HTTPExchangeState>.fromOpaque(context).takeUnretainedValue()
    }

    private func read(_ whole: UnsafeMutableRawBufferPointer) -> Int {
        var buffer = whole
        if let limit = limits.send, !whole.isEmpty, offset < request.body.size {
            let granted = limit.take(whole.count) { isCancelled.load(ordering: .relaxed) }
            buffer = UnsafeMutableRawBufferPointer(rebasing: whole[..<granted])
        }
        let count: Int
        switch request.body {
        case .none: count = 0
        case .bytes(let bytes):
            let rest = bytes[Int(offset)...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            count = rest.count
        case .file(let file, let range):
            let wanted = Int(min(Int64(buffer.count), range.upperBound - range.lowerBound - offset))
            do {
                let window = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
                count = wanted == 0 ? 0 : try file.read(into: window, at: range.lowerBound + offset)
            } catch {
                failure = error
                return Int(CURL_READFUNC_ABORT)
            }
        }
        offset += Int64(count)
        if count > 0 { sent?(count) }
        return count
    }

    private func receive(line: UnsafeRawBufferPointer) -> Int {
        let text = String(decoding: line, as: UTF8.self).trimmingSpacesAndLineEnds()
        if text.hasPrefix("HTTP/") {
            // Another header section follows `100 Continue`.
            reply.fields = HTTPFields()
            reply.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        } else if case (let name, let value?) = text[...].halves(atFirst: ":") {
            reply.fields.append(String(name), value.trimmingSpaces())
        }
        return line.count
    }

    /// Waits until the limit permits the number of bytes; the sender waits meanwhile, as its window is full.
    private func waitToReceive(_ count: Int) {
        guard let limit = limits.receive else { return }
        var rest = count
        while rest > 0, !isCancelled.load(ordering: .relaxed) {
            rest -= limit.take(rest) { isCancelled.load(ordering: .relaxed) }
        }
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        do {
            let wanted = try isReceived ?? receiver?.wants(reply.status, reply.fields) ?? false
            isReceived = wanted
            if wanted {
                waitToReceive(bytes.count)
                try receiver?.receive(bytes)
            } else {
                try reply.add(body: bytes)
            }
            return bytes.count
        } catch {
            failure = error
            // Any other number than the received one ends the exchange.
            return bytes.isEmpty ? 1 : 0
        }
    }
}
