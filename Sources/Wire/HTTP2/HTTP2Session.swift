import CNghttp2

/// One HTTP/2 connection (RFC 9113) without a socket: it consumes and produces bytes. nghttp2 implements frames, HPACK and flow
/// control.
///
/// Used by one thread at a time. Streams may be written to from within their own callbacks.
public final class HTTP2Session {
    public enum Role: Sendable {
        case client
        case server
    }

    /// The number of header sections after which the host is asked whether it may receive more.
    private static let askInterval = 8

    private let session: OpaquePointer
    private let settings: HTTP2Settings
    /// The owner of this session, which therefore outlives it.
    private unowned(unsafe) let host: any HTTP2SessionHost  // the host owns the session
    private var conduct: PeerAbuseDetector
    /// Server: the streams that the client has opened. `nil` on a client.
    private var opened: OpenedStreams?
    private var heads = FrameHeads(preface: 24)
    /// Whether RST_STREAM was received, so that a later frame may be for the stream that it closed.
    private var isAfterReset = false
    /// The open stream whose header section is arriving; nghttp2 accepts no other frame in between.
    var streamReceivingHeaders: Unmanaged<HTTP2Stream>?
    /// Whether a header section has begun and not ended.
    public internal(set) var isWithinHeaderSection = false
    /// The number of body bytes put into DATA frames so far.
    public internal(set) var producedBytes: UInt64 = 0
    /// The number of body bytes that streams wrote and that flow control still holds back.
    public internal(set) var queuedBytes = 0
    /// The number of open streams.
    public private(set) var activeStreams = 0

    public init(role: Role, settings: HTTP2Settings = HTTP2Settings(), host: any HTTP2SessionHost) {
        self.settings = settings
        self.host = host
        conduct = PeerAbuseDetector(settings)
        opened = role == .server ? OpenedStreams() : nil
        let options = settings.isProxied ? HTTP2Library.optionsOfProxied : HTTP2Library.options
        var created: OpaquePointer?
        let status =
            role == .server
            ? nghttp2_session_server_new2(&created, HTTP2Library.callbacks, nil, options)
            : nghttp2_session_client_new2(&created, HTTP2Library.callbacks, nil, options)
        guard status == 0, let created else { preconditionFailure("nghttp2 has no memory for a session") }
        session = created
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        submitSettings(role)
    }

    deinit {
        // Closing the session does not report its streams, so they are released here.
        while let stream = firstStream { release(stream) }
        nghttp2_session_del(session)
    }

    private func submitSettings(_ role: Role) {
        var entries = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: UInt32(settings.streamWindow)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: settings.maxHeaderListSize),
        ]
        if role == .server {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
                    value: settings.maxConcurrentStreams))
        } else {
            entries.append(
                nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
        }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, settings.connectionWindow)
    }

    // MARK: Bytes

    /// Processes bytes from the peer; streams get their events during the call.
    ///
    /// - Returns: the number of processed bytes; fewer than all if the host may receive no further call now. The rest has to be
    ///   passed again.
    public func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) -> Int {
        guard opened != nil else {
            try take(bytes)
            return bytes.count
        }
        var offset = 0
        var taken = 0
        var headerSections = 0
        while let head = heads.next(in: bytes, at: &offset) {
            if head.type == UInt8(NGHTTP2_HEADERS.rawValue), head.start > 0 {
                headerSections += 1
                if headerSections % Self.askInterval == 0 {
                    // The host counts the calls that it has, so it has to have those before this one.
                    try take(UnsafeRawBufferPointer(rebasing: bytes[taken..<max(taken, head.start)]))
                    taken = max(taken, head.start)
                    guard host.mayReceiveCalls else {
                        heads.rewind()
                        return taken
                    }
                }
            }
            if head.type == UInt8(NGHTTP2_RST_STREAM.rawValue) { isAfterReset = true }
            guard head.type == UInt8(NGHTTP2_DATA.rawValue), isAfterReset || wasClosed(head.stream) else { continue }
            // nghttp2 silently skips DATA on a closed stream (RFC 9113, section 5.1). Whether the stream is closed is known after
            // all earlier bytes were processed.
            isAfterReset = false
            let start = max(taken, head.start)
            try take(UnsafeRawBufferPointer(rebasing: bytes[taken..<start]))
            taken = start
            if refuses(head.stream) { return bytes.count }
        }
        try take(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
        return bytes.count
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        let taken = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if taken < 0 { throw HTTP2Error(code: Int32(taken)) }
    }

    /// Returns the next bytes for the peer, about one frame; `nil` when nothing is to be sent now. Valid until the next call.
    public func nextOutput() throws(HTTP2Error) -> UnsafeRawBufferPointer? {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(session, &bytes)
        if count < 0 { throw HTTP2Error(code: Int32(count)) }
        return count == 0 ? nil : UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Whether neither side has more to send, so that the connection can be closed.
    public var isFinished: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    /// The open streams, the most recent first.
    public var streams: [HTTP2Stream] {
        Array(sequence(first: firstStream) { $0?.next }.prefix { $0 != nil }.compactMap { $0 })
    }

    // MARK: Connection

    /// Announces that the connection will be closed, while it still accepts streams in transit (RFC 9113, section 6.8).
    public func submitShutdownNotice() {
        nghttp2_submit_shutdown_notice(session)
        host.outputPending()
    }

    /// Refuses new streams; open streams continue to their end.
    public func submitGoAway(_ code: HTTP2ErrorCode = .noError) {
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(session), code.rawValue,
            nil, 0)
        host.outputPending()
    }

    /// - Parameter number: the number that the acknowledgement returns.
    public func submitPing(_ number: UInt8) {
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), [number, 0, 0, 0, 0, 0, 0, 0])
        host.outputPending()
    }

    // MARK: Streams

    /// Client: opens a stream with a request's header fields.
    ///
    /// - Parameter hasBody: whether `write` and `finish` follow.
    /// - Returns: whether a stream identifier was left and the peer has not sent GOAWAY.
    public func open(_ stream: HTTP2Stream, _ headers: HeaderBlock, hasBody: Bool) -> Bool {
        let context = retain(stream)
        var provider = Self.dataProvider
        let id = withUnsafePointer(to: &provider) { provider in
            nghttp2_submit_request(
                session, nil, headers.fields.baseAddress, headers.fields.count, hasBody ? provider : nil, context)
        }
        guard id > 0 else {
            release(stream)
            return false
        }
        stream.id = id
        host.outputPending()
        return true
    }

    func submitResponse(_ stream: HTTP2Stream, _ headers: HeaderBlock, hasBody: Bool) {
        var provider = Self.dataProvider
        withUnsafePointer(to: &provider) { provider in
            _ = nghttp2_submit_response(
                session, stream.id, headers.fields.baseAddress, headers.fields.count, hasBody ? provider : nil)
        }
        host.outputPending()
    }

    func submitResponse(
        _ stream: HTTP2Stream, _ headers: HeaderBlock, _ name: StaticString, _ value: UnsafeRawBufferPointer
    ) {
        let count = headers.fields.count
        var provider = Self.dataProvider
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count + 1) { fields in
            for index in 0..<count { fields.initializeElement(at: index, to: headers.fields[index]) }
            // nghttp2 only reads both strings.
            fields.initializeElement(
                at: count,
                to: nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: name.utf8Start),
                    value: UnsafeMutablePointer(mutating: value.baseAddress?.assumingMemoryBound(to: UInt8.self)),
                    namelen: name.utf8CodeUnitCount, valuelen: value.count,
                    flags: UInt8(truncatingIfNeeded: NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
                        | UInt8(truncatingIfNeeded: NGHTTP2_NV_FLAG_NO_INDEX.rawValue)))
            withUnsafePointer(to: &provider) { provider in
                _ = nghttp2_submit_response(session, stream.id, fields.baseAddress, fields.count, provider)
            }
        }
        host.outputPending()
    }

    func submitTrailers(_ stream: HTTP2Stream, _ trailers: HeaderBlock) {
        nghttp2_submit_trailer(session, stream.id, trailers.fields.baseAddress, trailers.fields.count)
    }

    func submitReset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        host.outputPending()
    }

    func resume(_ stream: HTTP2Stream) {
        nghttp2_session_resume_data(session, stream.id)
        host.outputPending()
    }

    func consume(_ stream: HTTP2Stream, _ count: Int) {
        nghttp2_session_consume(session, stream.id, count)
        host.outputPending()
    }

    private static let dataProvider = nghttp2_data_provider(
        source: nghttp2_data_source(),
        read_callback: { session, id, buffer, length, flags, _, _ in
            guard let stream = HTTP2Session.stream(session, id), let buffer, let flags else {
                return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
            }
            return stream.produce(into: UnsafeMutableRawBufferPointer(start: buffer, count: length), flags: flags)
        })

    // MARK: For the callbacks

    /// Returns the stream whose address nghttp2 stores under `id` while it is open.
    static func stream(_ session: OpaquePointer?, _ id: Int32) -> HTTP2Stream? {
        guard let context = nghttp2_session_get_stream_user_data(session, id) else { return nil }
        return Unmanaged<HTTP2Stream>.fromOpaque(context).takeUnretainedValue()
    }

    /// Whether HEADERS, of which the frame header has arrived, are allowed on this stream.
    func takesHeaders(_ id: Int32) -> Bool {
        opened?.opens(id) ?? true || !refuses(id)
    }

    /// Whether the stream was opened and is now closed.
    private func wasClosed(_ id: Int32) -> Bool {
        id <= opened?.last ?? 0 && Self.stream(session, id) == nil
    }

    /// Terminates the connection if the peer must not send on the stream any more.
    private func refuses(_ id: Int32) -> Bool {
        guard Self.stream(session, id) == nil, let code = opened?.fault(id) else { return false }
        nghttp2_session_terminate_session(session, code.rawValue)
        host.outputPending()
        return true
    }

    /// Records that the stream was reset: the peer may have sent more on it before it receives RST_STREAM.
    func sentReset(_ id: Int32) {
        if !(Self.stream(session, id)?.hasReceivedEnd ?? false) { opened?.recordReset(id) }
    }

    func peerOpens(_ id: Int32) -> Bool {
        streamReceivingHeaders = nil
        guard let stream = host.openStream() else { return false }
        opened?.isTaken()
        stream.id = id
        nghttp2_session_set_stream_user_data(session, id, retain(stream))
        streamReceivingHeaders = Unmanaged.passUnretained(stream)
        return true
    }

    func closed(_ stream: HTTP2Stream, code: UInt32) {
        nghttp2_session_set_stream_user_data(session, stream.id, nil)
        // Other streams can end while a header section arrives.
        if streamReceivingHeaders?.toOpaque() == Unmanaged.passUnretained(stream).toOpaque() {
            streamReceivingHeaders = nil
        }
        stream.closed(code: code)
        stream.dropUnsent()
        release(stream)
    }

    // MARK: Limits on the peer

    func dataFlowed() { conduct.dataFlowed() }

    func peerSentControlFrame() { judge(conduct.controlFrame(at: host.now)) }

    func peerMadeUsReset() { judge(conduct.madeUsReset(at: host.now)) }

    /// Records that a header section was rejected for its size.
    public func peerSentOversizedHeaders() { judge(conduct.oversizedHeaders(at: host.now)) }

    private func judge(_ excess: PeerAbuseDetector.Excess?) {
        guard let excess else { return }
        nghttp2_session_terminate_session(session, HTTP2ErrorCode.enhanceYourCalm.rawValue)
        host.exceeded(excess.rawValue)
        host.outputPending()
    }

    func peerSentSettings() { host.receivedSettings() }

    func peerSentPingAcknowledgement(_ number: UInt8) { host.receivedPingAcknowledgement(number) }

    func peerSentGoAway() { host.receivedGoAway() }

    /// Closes every open stream after the connection was lost.
    public func abandon() {
        while let stream = firstStream { closed(stream, code: HTTP2ErrorCode.cancel.rawValue) }
    }

    /// The head of the linked list of open streams, which keeps them alive while nghttp2 knows their addresses.
    private var firstStream: HTTP2Stream?

    private func retain(_ stream: HTTP2Stream) -> UnsafeMutableRawPointer {
        stream.session = self
        activeStreams += 1
        stream.next = firstStream
        firstStream?.previous = stream
        firstStream = stream
        return Unmanaged.passUnretained(stream).toOpaque()
    }

    private func release(_ stream: HTTP2Stream) {
        stream.session = nil
        activeStreams -= 1
        let next = stream.next
        next?.previous = stream.previous
        if let previous = stream.previous { previous.next = next } else { firstStream = next }
        stream.next = nil
        stream.previous = nil
    }
}
