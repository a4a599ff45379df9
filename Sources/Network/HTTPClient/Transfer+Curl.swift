import Basics
import CCurl
import HTTPTypes
import Synchronization

/// The thread's side: libcurl's options and callbacks.
extension Transfer {
    /// The number of bytes from which on a body waits until the server asks for it. A server that refuses a request saves the
    /// transfer of such a body; the transfer of a smaller one costs less than the wait.
    static let smallestExpectation: Int64 = 1 << 20

    /// The sizes of libcurl's buffers.
    private static let largeBuffer = 256 << 10
    private static let streamBuffer = 64 << 10
    /// The size of the buffer for a body that its reader receives: each call of the kernel gets as much.
    private static let readerBuffer = 128 << 10

    /// - Parameter touch: see the property.
    func configure(
        _ curl: UnsafeMutableRawPointer, _ cache: UnsafeMutableRawPointer, touch: @escaping (Transfer) -> Void
    ) {
        handle = curl
        self.touch = touch
        progress = (0, .now)
        let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.message = message
        curl_set_pointer(curl, CURLOPT_ERRORBUFFER, message)
        curl_set_pointer(curl, CURLOPT_SHARE, cache)
        configureConnection(curl)
        configureRequest(curl)
        configureReceiving(curl)
    }

    private func configureConnection(_ curl: UnsafeMutableRawPointer) {
        // The process has several threads, so timeouts must not use signals.
        curl_set_number(curl, CURLOPT_NOSIGNAL, 1)
        // The end of a transfer must not wait for a name server, which would hold up the others.
        curl_set_number(curl, CURLOPT_QUICK_EXIT, 1)
        curl_set_number(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
        // A signature covers the path exactly as written.
        curl_set_number(curl, CURLOPT_PATH_AS_IS, 1)
        curl_set_number(curl, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.milliseconds)
        if let limit = options.totalTimeout { curl_set_number(curl, CURLOPT_TIMEOUT_MS, limit.milliseconds) }
        curl_set_number(curl, CURLOPT_TCP_KEEPALIVE, 1)
        let bufferSize =
            reader != nil ? Self.readerBuffer : isStreamed ? Self.streamBuffer : Self.largeBuffer
        curl_set_number(curl, CURLOPT_UPLOAD_BUFFERSIZE, bufferSize)
        curl_set_number(curl, CURLOPT_BUFFERSIZE, bufferSize)
        curl_set_text(curl, CURLOPT_USERAGENT, "data-gateway")
        // For the names in a certificate that is not for the host.
        curl_set_number(curl, CURLOPT_CERTINFO, 1)
        // Header fields of a proxy are not those of the response.
        curl_set_number(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let authorities = options.authorities { curl_set_text(curl, CURLOPT_CAINFO, authorities) }
        if let target = options.connectTo {
            let list = curl_slist_append(nil, "::\(target)")
            lists.append(list)
            curl_set_connect_to(curl, list)
        }
    }

    private func configureRequest(_ curl: UnsafeMutableRawPointer) {
        curl_set_text(curl, CURLOPT_URL, url)
        switch method {
        case "GET": curl_set_number(curl, CURLOPT_HTTPGET, 1)
        case "HEAD": curl_set_number(curl, CURLOPT_NOBODY, 1)
        default:
            curl_set_number(curl, CURLOPT_UPLOAD, 1)
            curl_set_text(curl, CURLOPT_CUSTOMREQUEST, method)
            curl_set_size(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size))
            // There is no function that rewinds the body, so libcurl does not send it again by itself over another connection:
            // the server may have processed it (RFC 9110, section 9.2.2), and the caller decides.
            curl_set_read(curl) { Transfer.of($3).read(UnsafeMutableRawBufferPointer(start: $0, count: $1 * $2)) }
            curl_set_pointer(curl, CURLOPT_READDATA, Unmanaged.passUnretained(self).toOpaque())
        }
        var lines = fields.fields.map { "\($0.name): \($0.value)" }
        // A name without a value is left out. libcurl otherwise waits a second for `100 Continue`, which many servers never send,
        // before each body.
        if isStreamed || body.size < Self.smallestExpectation { lines.append("Expect:") }
        let list = lines.reduce(nil as UnsafeMutablePointer<curl_slist>?) { curl_slist_append($0, $1) ?? $0 }
        lists.append(list)
        curl_set_fields(curl, list)
    }

    private func configureReceiving(_ curl: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        curl_set_receive(curl, CURLOPT_HEADERFUNCTION) {
            Transfer.of($3).receive(line: UnsafeRawBufferPointer(start: $0, count: $1 * $2))
        }
        curl_set_pointer(curl, CURLOPT_HEADERDATA, context)
        curl_set_receive(curl, CURLOPT_WRITEFUNCTION) {
            Transfer.of($3).receive(body: UnsafeRawBufferPointer(start: $0, count: $1 * $2))
        }
        curl_set_pointer(curl, CURLOPT_WRITEDATA, context)
    }

    /// Frees libcurl's objects.
    func release() {
        if let handle { curl_easy_cleanup(handle) }
        handle = nil
        for list in lists { curl_slist_free_all(list) }
        lists = []
        message?.deallocate()
        message = nil
        touch = nil
    }

    /// Returns the response, or throws the error of the exchange.
    func reply(after code: CURLcode) throws -> HTTPReply {
        if let failure { throw failure }
        let reply = HTTPReply(status: head.status, fields: head.fields, body: kept.bytes)
        switch code {
        case CURLE_OK:
            guard isBodySent || head.status >= 400 else {
                throw TransferFailure.connection("the server answered before it had the whole request")
            }
            return reply
        // A server that refuses without reading the body may close at once; its response is used.
        case CURLE_SEND_ERROR where head.status >= 400: return reply
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            throw TransferFailure.unusable(reason(code))
        default:
            throw TransferFailure.connection(reason(code))
        }
    }

    /// Whether the caller's pieces were sent up to the last one.
    private var isBodySent: Bool {
        guard isStreamed, case .written(let size) = body else { return true }
        return state.withLock { $0.taken } == size
    }

    // MARK: libcurl's callbacks

    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context else { preconditionFailure("libcurl lost the transfer it was given") }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    private func markTouched() {
        guard !isTouched else { return }
        isTouched = true
        touch?(self)
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch body {
        case .none: return 0
        case .bytes(let bytes):
            let rest = bytes[offset...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            offset += rest.count
            return rest.count
        case .written(let size): return read(written: size, into: buffer)
        }
    }

    private func read(written size: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let sent = handle.map { Int64(curl_sent_size($0)) }
        nonisolated(unsafe) let buffer = buffer  // used before this returns
        let result = state.withLock { state -> Int in
            // libcurl starts over with another connection if it had sent nothing of the body over the first one. What it had taken
            // of it is gone.
            guard state.result == nil, sent == state.taken else { return Int(CURL_READFUNC_ABORT) }
            let count = min(buffer.count, state.sendable)
            guard count > 0 else {
                if state.taken == size { return 0 }
                state.isWaitingForBytes = true
                return Int(CURL_READFUNC_PAUSE)
            }
            state.taken += Int64(count)
            return state.outgoing.take(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        }
        if result != CURL_READFUNC_PAUSE { markTouched() }
        return result
    }

    private func receive(line: UnsafeRawBufferPointer) -> Int {
        let text = String(decoding: line, as: UTF8.self).trimmingSpacesAndLineEnds()
        if text.hasPrefix("HTTP/") {
            // Another header section follows `100 Continue`.
            head = Head()
            head.status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        } else if text.isEmpty {
            completeHead()
        } else if case (let name, let value?) = text[...].halves(atFirst: ":") {
            head.fields.append(String(name), value.trimmingSpaces())
        }
        return line.count
    }

    private func completeHead() {
        guard head.status >= 200, !isHeadComplete else { return }
        isHeadComplete = true
        remaining = head.fields["content-length"].flatMap { Int64($0) } ?? .max
        let head = head
        mustResume = state.withLock { state in
            state.head = head
            // libcurl stops sending after a refusal, but does not end a transfer that is paused.
            defer { state.isWaitingForBytes = false }
            return state.isWaitingForBytes
        }
        markTouched()
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard isTaken else {
            do {
                try kept.add(bytes, status: head.status)
                return bytes.count
            } catch {
                failure = error
                // Any other number than the received one ends the exchange.
                return bytes.isEmpty ? 1 : 0
            }
        }
        nonisolated(unsafe) let bytes = bytes  // used before this returns
        if reader != nil { return receive(forReader: bytes) }
        let isAccepted = state.withLock { state in
            guard bytes.count <= state.incoming.free else {
                state.isWaitingForReader = true
                return false
            }
            return state.incoming.append(bytes) == bytes.count
        }
        markTouched()
        return isAccepted ? bytes.count : Int(CURL_WRITEFUNC_PAUSE)
    }

    /// Accepts the bytes, and receives no more if there may be no space for them: libcurl copies what it has received and cannot pass on.
    private func receive(forReader bytes: UnsafeRawBufferPointer) -> Int {
        nonisolated(unsafe) let bytes = bytes  // used before this returns
        let rest = remaining - Int64(bytes.count)
        let (isAccepted, isFull) = state.withLock { state in
            var isAccepted = state.incoming.count == 0 && state.wanted?.append(bytes) == true
            if !isAccepted, bytes.count <= state.incoming.free {
                isAccepted = state.incoming.append(bytes) == bytes.count
            }
            let space = (state.incoming.count == 0 ? state.wanted?.free : nil) ?? state.incoming.free
            let isFull =
                !isAccepted || rest > Int64(state.incoming.free) && min(rest, Int64(Self.readerBuffer)) > Int64(space)
            defer { state.isWaitingForReader = state.isWaitingForReader || isFull }
            return (isAccepted, isFull && !state.isWaitingForReader)
        }
        markTouched()
        guard isAccepted else { return Int(CURL_WRITEFUNC_PAUSE) }
        remaining = rest
        // After a pause of one direction libcurl receives once more.
        if isFull, let handle { curl_easy_pause(handle, CURLPAUSE_RECV | CURLPAUSE_SEND) }
        return bytes.count
    }
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
