import CNghttp2

/// One stream of a session. A subclass handles the received events and sends through the methods here.
///
/// Belongs to its session and is used, like it, by one thread at a time.
open class HTTP2Stream {
    /// The stream identifier; 0 until a client's request was submitted.
    public internal(set) final var id: Int32 = 0
    /// The session; `nil` once the stream is closed, when nothing can be sent any more. The session clears it before it is freed.
    final unowned(unsafe) var session: HTTP2Session?  // the session clears it
    /// Whether the peer has ended its side of the stream.
    public internal(set) final var hasReceivedEnd = false
    /// Server: whether the client may continue with its request after the response is complete. If not, the stream is then reset
    /// (RFC 9113, section 8.1), which some clients take for a failure: curl 7.88 shows no response at all.
    public final var mayReceiveAfterResponse = false
    /// The neighbors in the session's list of open streams.
    final var next: HTTP2Stream?
    final unowned(unsafe) var previous: HTTP2Stream?  // the session clears it

    /// The bytes to be sent; the first `sent` bytes of `outgoing` were sent already.
    private final var outgoing: [UInt8] = []
    private final var sent = 0
    private final var queued: [[UInt8]] = []
    private final var trailers: HeaderBlock?
    private final var isFinishing = false
    /// Whether nghttp2 asked for data too early, and has to be notified when data is available.
    private final var isDeferred = false

    public init() {}

    // MARK: Received data

    /// Receives one header or trailer field; the bytes are valid during the call only.
    open func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {}

    /// Handles the end of the header section or the trailer section.
    open func receiveHeadersEnd(isTrailers: Bool) {}

    /// Receives bytes of DATA, valid during the call only. The window opens again when they are `consume`d.
    open func receive(data: UnsafeRawBufferPointer) {}

    /// Handles the end of the peer's side.
    open func receiveEnd() {}

    /// Handles the end of the stream, normal (`noError`) or not; no other event follows.
    open func closed(code: UInt32) {}

    /// Handles that all written bytes were passed to the session.
    open func drained() {}

    /// Handles a change of `unsentBytes`.
    open func unsentBytesChanged(by change: Int) {}

    // MARK: Sent data

    /// Bytes written but not yet taken by the session.
    public final var unsentBytes: Int {
        outgoing.count - sent + queued.reduce(0) { $0 + $1.count }
    }

    /// Sends the response's header fields; `write` and `finish` follow.
    public final func respond(_ headers: HeaderBlock) {
        session?.submitResponse(self, headers, hasBody: true)
    }

    /// Sends the response's header fields with one more field, which is copied. Its value differs between responses, so it is not
    /// added to the compression tables (RFC 7541, section 6.2.3).
    ///
    /// - Parameter name: in lower case.
    public final func respond(_ headers: HeaderBlock, _ name: StaticString, _ value: UnsafeRawBufferPointer) {
        session?.submitResponse(self, headers, name, value)
    }

    /// Sends a response that consists of header fields only.
    public final func respondAndFinish(_ headers: HeaderBlock) {
        session?.submitResponse(self, headers, hasBody: false)
    }

    /// Sends bytes as DATA, when flow control allows.
    public final func write(_ bytes: [UInt8]) {
        guard session != nil, !isFinishing, !bytes.isEmpty else { return }
        if outgoing.isEmpty { outgoing = bytes } else { queued.append(bytes) }
        count(bytes.count)
        resumeIfDeferred()
    }

    /// Ends this side of the stream after the written bytes, optionally with a trailer section.
    public final func finish(_ trailers: HeaderBlock? = nil) {
        guard session != nil, !isFinishing else { return }
        self.trailers = trailers
        isFinishing = true
        resumeIfDeferred()
    }

    /// Resets the stream.
    public final func reset(_ code: HTTP2ErrorCode) {
        session?.submitReset(self, code)
    }

    /// Lets the peer send this number of bytes again.
    public final func consume(_ count: Int) {
        session?.consume(self, count)
    }

    private final func resumeIfDeferred() {
        guard isDeferred, let session else { return }
        isDeferred = false
        session.resume(self)
    }

    /// Fills a DATA frame for nghttp2.
    final func produce(
        into buffer: UnsafeMutableRawBufferPointer, flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        var filled = 0
        while filled < buffer.count && sent < outgoing.count {
            let taken = min(buffer.count - filled, outgoing.count - sent)
            outgoing.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<sent + taken]))
            }
            filled += taken
            sent += taken
            if sent == outgoing.count { advance() }
        }
        session?.producedBytes += UInt64(filled)
        if filled > 0 { count(-filled) }
        let isEmpty = outgoing.isEmpty
        if isEmpty && isFinishing {
            flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if let trailers {
                flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                session?.submitTrailers(self, trailers)
            }
        } else if filled == 0 {
            isDeferred = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        if isEmpty && !isFinishing { drained() }
        return filled
    }

    private final func count(_ change: Int) {
        session?.queuedBytes += change
        unsentBytesChanged(by: change)
    }

    /// Drops unsent bytes, which cannot be sent any more.
    final func dropUnsent() {
        let left = unsentBytes
        if left > 0 { count(-left) }
        (outgoing, queued, sent) = ([], [], 0)
    }

    private final func advance() {
        sent = 0
        outgoing = queued.isEmpty ? [] : queued.removeFirst()
    }
}
