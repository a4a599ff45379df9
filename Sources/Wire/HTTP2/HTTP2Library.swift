import CNghttp2

/// nghttp2's tables of callbacks and options, made once. Callbacks find their session in its user data.
enum HTTP2Library {
    /// Never changed after it was made; nghttp2 only reads it.
    nonisolated(unsafe) static let callbacks: OpaquePointer? = {  // only read
        var table: OpaquePointer?
        nghttp2_session_callbacks_new(&table)
        nghttp2_session_callbacks_set_on_begin_frame_callback(table) { handle, header, context in
            guard let header, header.pointee.type == UInt8(NGHTTP2_HEADERS.rawValue),
                let session = HTTP2Library.session(context), !session.takesHeaders(header.pointee.stream_id)
            else { return 0 }
            // For any other return value, nghttp2 would continue with the frame.
            return Int32(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(table) { handle, frame, context in
            guard let frame, let session = HTTP2Library.session(context) else { return 0 }
            let header = frame.pointee
            guard header.hd.type == UInt8(NGHTTP2_HEADERS.rawValue), header.headers.cat == NGHTTP2_HCAT_REQUEST
            else {
                session.streamReceivingHeaders = HTTP2Session.stream(handle, header.hd.stream_id).map(
                    Unmanaged.passUnretained)
                return 0
            }
            session.isWithinHeaderSection = true
            if !session.peerOpens(header.hd.stream_id) {
                nghttp2_submit_rst_stream(
                    handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.hd.stream_id,
                    HTTP2ErrorCode.refusedStream.rawValue)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(table) {
            _, _, name, nameCount, value, valueCount, _, context in
            guard let context else { return 0 }
            // Called for each field: reference counting would cost more than everything else in it.
            Unmanaged<HTTP2Session>.fromOpaque(context)._withUnsafeGuaranteedRef { session in
                session.streamReceivingHeaders?._withUnsafeGuaranteedRef { stream in
                    stream.receive(
                        name: UnsafeBufferPointer(start: name, count: nameCount),
                        value: UnsafeBufferPointer(start: value, count: valueCount))
                }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(table) { handle, frame, context in
            guard let frame else { return 0 }
            HTTP2Library.received(frame, handle, context)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table) { _, frame, _, context in
            // No other callback reports the end of a rejected header section.
            if frame?.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
                HTTP2Library.session(context)?.isWithinHeaderSection = false
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { handle, _, id, bytes, count, context in
            guard let stream = HTTP2Session.stream(handle, id) else {
                // No stream reads the bytes, but the connection's window has to stay open for other streams.
                nghttp2_session_consume_connection(handle, count)
                return 0
            }
            HTTP2Library.session(context)?.dataFlowed()
            stream.receive(data: UnsafeRawBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(table) { handle, frame, context in
            guard let frame else { return 0 }
            HTTP2Library.sent(frame, handle, context)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(table) { handle, id, code, context in
            if let stream = HTTP2Session.stream(handle, id) {
                HTTP2Library.session(context)?.closed(stream, code: code)
            }
            return 0
        }
        return table
    }()

    /// Set up once and then only read, like `callbacks`.
    nonisolated(unsafe) static let options = makeOptions()  // only read

    /// The same without the library's limit on resets.
    nonisolated(unsafe) static let optionsOfProxied: OpaquePointer? = {  // only read
        let table = makeOptions()
        nghttp2_option_set_stream_reset_rate_limit(table, .max, .max)
        return table
    }()

    private static func makeOptions() -> OpaquePointer? {
        var table: OpaquePointer?
        nghttp2_option_new(&table)
        // Back-pressure: windows open when a message was consumed, not when its bytes arrived.
        nghttp2_option_set_no_auto_window_update(table, 1)
        // RFC 9218 replaces the priority tree, which alone needs closed streams.
        nghttp2_option_set_no_closed_streams(table, 1)
        // Far above the control frames that a client may send at once (`HTTP2Settings.controlFrameBurst`), which are counted and
        // answered with GOAWAY: the library would end the connection without a word. This limits the memory for a client that sends
        // them slowly and never reads.
        nghttp2_option_set_max_outbound_ack(table, 10_000)
        return table
    }

    static func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
        context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func received(
        _ frame: UnsafePointer<nghttp2_frame>, _ handle: OpaquePointer?, _ context: UnsafeMutableRawPointer?
    ) {
        let header = frame.pointee.hd
        switch nghttp2_frame_type(rawValue: UInt32(header.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            if header.type == UInt8(NGHTTP2_HEADERS.rawValue) {
                session(context)?.isWithinHeaderSection = false
                session(context)?.dataFlowed()
            } else if header.length == 0, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) == 0 {
                session(context)?.peerSentControlFrame()
            }
            guard let stream = HTTP2Session.stream(handle, header.stream_id) else { return }
            if header.type == UInt8(NGHTTP2_HEADERS.rawValue) {
                stream.receiveHeadersEnd(isTrailers: frame.pointee.headers.cat == NGHTTP2_HCAT_HEADERS)
            }
            if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                stream.hasReceivedEnd = true
                stream.receiveEnd()
            }
        case NGHTTP2_PING where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
            session(context)?.peerSentPingAcknowledgement(frame.pointee.ping.opaque_data.0)
        case NGHTTP2_PING, NGHTTP2_PRIORITY:
            session(context)?.peerSentControlFrame()
        case NGHTTP2_SETTINGS where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
            session(context)?.peerSentControlFrame()
            session(context)?.peerSentSettings()
        case NGHTTP2_GOAWAY:
            session(context)?.peerSentGoAway()
        default:
            break
        }
    }

    private static func sent(
        _ frame: UnsafePointer<nghttp2_frame>, _ handle: OpaquePointer?, _ context: UnsafeMutableRawPointer?
    ) {
        let header = frame.pointee.hd
        let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch nghttp2_frame_type(rawValue: UInt32(header.type)) {
        case NGHTTP2_DATA where !endsStream:
            session(context)?.dataFlowed()
        case NGHTTP2_HEADERS where endsStream, NGHTTP2_DATA where endsStream:
            guard nghttp2_session_check_server_session(handle) != 0,
                let stream = HTTP2Session.stream(handle, header.stream_id), !stream.hasReceivedEnd,
                !stream.mayReceiveAfterResponse
            else { return }
            // The response is complete: the client need not send the rest of its request (RFC 9113, section 8.1).
            nghttp2_submit_rst_stream(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, HTTP2ErrorCode.noError.rawValue)
        case NGHTTP2_RST_STREAM where nghttp2_session_check_server_session(handle) != 0:
            session(context)?.sentReset(header.stream_id)
            // A client that resets a stream does so on purpose.
            if frame.pointee.rst_stream.error_code != HTTP2ErrorCode.noError.rawValue {
                session(context)?.peerMadeUsReset()
            }
        default:
            break
        }
    }
}
