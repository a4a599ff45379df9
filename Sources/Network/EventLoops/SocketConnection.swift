import CUV
import Glibc
import RPC
import Wire

/// A TCP socket with the protocol on it. It belongs to one loop and is used there only.
final class SocketConnection {
    private let loop: EventLoop
    private let socket: UnsafeMutablePointer<uv_tcp_t>
    private let connectionProtocol: any ConnectionProtocol
    private let onClose: (SocketConnection) -> Void
    /// The number of bytes that are sent in one go; more are sent in a later turn.
    private static let sentAtOnce = 256 * 1024

    private var isFlushScheduled = false
    /// Whether received bytes are kept by the protocol or left in the socket, until the connection's turn.
    private var isHeld = false
    /// Whether a write is pending that the kernel did not accept at once; until it is done nothing is produced, and a server reads
    /// nothing.
    private var isWriting = false
    private var isClosing = false
    /// The end of the wait for the peer's end; `nil` = the protocol is not finished.
    private var lingering: LoopTimer?
    /// The longest wait for the peer's end, in nanoseconds.
    private static let longestLingering: UInt64 = 1_000_000_000
    /// The peer's violation of the protocol: the remaining output is sent, then the socket is closed.
    private var failure: ConnectionError?

    /// Takes ownership of `socket`, which is initialized and connected.
    init(
        loop: EventLoop, socket: UnsafeMutablePointer<uv_tcp_t>, connectionProtocol: any ConnectionProtocol,
        onClose: @escaping (SocketConnection) -> Void
    ) {
        loop.preconditionCurrent()
        self.loop = loop
        self.socket = socket
        self.connectionProtocol = connectionProtocol
        self.onClose = onClose
        // Released when the socket is closed.
        socket.pointee.data = Unmanaged.passRetained(self).toOpaque()
        connectionProtocol.onOutput = { [unowned self] in flushSoon() }
        connectionProtocol.onSpace = { [unowned self] in continueInTurn() }
        uv_tcp_nodelay(socket, 1)
        startReading()
        flushSoon()
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_stream_t.self)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> SocketConnection {
        guard let context else { preconditionFailure("a socket without its connection") }
        return Unmanaged<SocketConnection>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: Reading

    private func startReading() {
        guard !isHeld, mayRead else { return }
        uv_read_start(
            stream,
            { handle, _, buffer in
                // Without a buffer libuv reads nothing: the bytes stay in the socket.
                let memory = EventLoop.of(handle?.pointee.loop).bufferToRead
                buffer?.pointee = uv_buf_init(
                    memory?.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(memory?.count ?? 0))
            },
            { handle, count, buffer in
                SocketConnection.of(handle?.pointee.data).received(count, buffer?.pointee.base)
            })
    }

    private var mayRead: Bool { !isWriting || connectionProtocol.receivesWhileSending }

    private func received(_ count: Int, _ bytes: UnsafePointer<CChar>?) {
        // libuv may read more within the callback, which a failed session must not receive.
        if count == 0 || failure != nil { return }
        guard count != Int(UV_ENOBUFS.rawValue) else {
            hold()
            connectionProtocol.lane.perform { [self] in readInTurn() }
            return
        }
        guard count > 0 else {
            close()
            return
        }
        let lane = connectionProtocol.lane
        process { () throws(ConnectionError) in
            try connectionProtocol.receive(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        lane.charge(loop.now &- loop.readStart)
    }

    private func process(_ receive: () throws(ConnectionError) -> Reception) {
        guard lingering == nil else { return }
        do throws(ConnectionError) {
            switch try receive() {
            case .complete:
                isHeld = false
            case .turnIsOver:
                hold()
                continueInTurn()
            case .queueIsFull:
                hold()
            }
        } catch {
            failure = error
        }
        flushSoon()
    }

    private func hold() {
        isHeld = true
        uv_read_stop(stream)
    }

    /// Processes the bytes that the protocol keeps, in the connection's turn.
    private func continueInTurn() {
        guard !isClosing else { return }
        connectionProtocol.lane.perform { [self] in
            guard !isClosing, failure == nil else { return }
            process { () throws(ConnectionError) in try connectionProtocol.continueReceiving() }
            startReading()
        }
    }

    /// Reads what was left in the socket.
    private func readInTurn() {
        guard !isClosing, failure == nil else { return }
        isHeld = false
        guard mayRead else { return }
        var descriptor: Int32 = -1
        uv_fileno(UnsafeRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self), &descriptor)
        let memory = loop.buffers.read
        let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
        switch count {
        case 0: close()
        case 1...:
            process { () throws(ConnectionError) in
                try connectionProtocol.receive(UnsafeRawBufferPointer(rebasing: memory[..<count]))
            }
            startReading()
        default:
            if [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) { startReading() } else { close() }
        }
    }

    // MARK: Writing

    private func flushSoon() {
        guard !isFlushScheduled, !isClosing else { return }
        isFlushScheduled = true
        loop.flushLater(self)
    }

    /// Sends all output of the protocol that the kernel accepts.
    func flush() {
        isFlushScheduled = false
        guard !isClosing else { return }
        guard !connectionProtocol.isAborted else {
            close()
            return
        }
        guard !isWriting, lingering == nil else { return }
        let buffer = loop.buffers.write
        var filled = 0
        var sent = 0
        do throws(ConnectionError) {
            while let bytes = try connectionProtocol.nextOutput() {
                sent += bytes.count
                if filled + bytes.count > buffer.count {
                    guard write(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), then: bytes) else { return }
                    filled = 0
                    if bytes.count > buffer.count {
                        guard write(bytes, then: UnsafeRawBufferPointer(start: nil, count: 0)) else { return }
                        continue
                    }
                }
                UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: bytes)
                filled += bytes.count
                guard sent < Self.sentAtOnce else {
                    flushInTurn()
                    break
                }
            }
        } catch {
            failure = error
        }
        if filled > 0 {
            let rest = UnsafeRawBufferPointer(start: nil, count: 0)
            guard write(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), then: rest) else { return }
        }
        if failure != nil { close() } else if connectionProtocol.isFinished { linger() }
    }

    /// Sends the end, and closes the socket after that of the peer, or soon. A socket that is closed with unread bytes, such as a
    /// WINDOW_UPDATE, resets the connection, and the peer loses what it has not read of the last responses (RFC 9112, section 9.6).
    private func linger() {
        var descriptor: Int32 = -1
        uv_fileno(UnsafeRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self), &descriptor)
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return close() }
        lingering = loop.schedule(at: loop.now &+ Self.longestLingering) { [self] in close() }
        isHeld = false
        startReading()
    }

    /// Sends in the connection's turn.
    private func flushInTurn() {
        guard !isFlushScheduled, !isClosing else { return }
        isFlushScheduled = true
        connectionProtocol.lane.perform { [self] in flush() }
    }

    /// - Parameter next: sent directly after `bytes` if those cannot all be written now.
    /// - Returns: whether all of `bytes` was sent now; if so, `next` was not sent.
    private func write(_ bytes: UnsafeRawBufferPointer, then next: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return true }
        var buffer = uv_buf_init(
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
            UInt32(bytes.count))
        let written = Int(uv_try_write(stream, &buffer, 1))
        if written == bytes.count { return true }
        guard written >= 0 || written == Int(UV_EAGAIN.rawValue) else {
            close()
            return false
        }
        var rest = [UInt8](UnsafeRawBufferPointer(rebasing: bytes[max(0, written)...]))
        rest.append(contentsOf: next)
        PendingWrite.start(rest, on: stream) { [unowned self] status in finishedWriting(status) }
        isWriting = true
        connectionProtocol.socketBlocked(true)
        if !mayRead { uv_read_stop(stream) }
        return false
    }

    private func finishedWriting(_ status: Int32) {
        isWriting = false
        connectionProtocol.socketBlocked(false)
        guard !isClosing else { return }
        guard status == 0 else {
            close()
            return
        }
        startReading()
        // Not at once: many sockets may accept bytes at the same time.
        flushInTurn()
    }

    // MARK: End

    /// Begins the orderly end of the protocol.
    func shutDown() {
        loop.preconditionCurrent()
        connectionProtocol.shutDown()
    }

    /// Ends the connection because the server stops.
    func stop() {
        loop.preconditionCurrent()
        connectionProtocol.lane.perform { [self] in
            if !isClosing { connectionProtocol.stop() }
        }
    }

    func close() {
        loop.preconditionCurrent()
        guard !isClosing else { return }
        isClosing = true
        lingering?.cancel()
        uv_close(UnsafeMutableRawPointer(socket).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let context = handle?.pointee.data else { return }
            Unmanaged<SocketConnection>.fromOpaque(context).takeRetainedValue().closed()
        }
        connectionProtocol.connectionLost(failure)
        // Calls in progress may keep the protocol longer than this.
        connectionProtocol.onOutput = {}
        connectionProtocol.onSpace = {}
    }

    private func closed() {
        socket.deallocate()
        onClose(self)
    }
}

/// Bytes that the kernel will accept later.
private final class PendingWrite {
    private let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    private let bytes: UnsafeMutableRawBufferPointer
    private let completion: (Int32) -> Void

    private init(_ bytes: [UInt8], completion: @escaping (Int32) -> Void) {
        self.bytes = .allocate(byteCount: bytes.count, alignment: 1)
        self.bytes.copyBytes(from: bytes)
        self.completion = completion
    }

    deinit {
        request.deallocate()
        bytes.deallocate()
    }

    static func start(
        _ bytes: [UInt8], on stream: UnsafeMutablePointer<uv_stream_t>, completion: @escaping (Int32) -> Void
    ) {
        let write = PendingWrite(bytes, completion: completion)
        write.request.pointee.data = Unmanaged.passRetained(write).toOpaque()
        var buffer = uv_buf_init(
            write.bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(write.bytes.count))
        let status = uv_write(write.request, stream, &buffer, 1) { request, status in
            guard let context = request?.pointee.data else { return }
            Unmanaged<PendingWrite>.fromOpaque(context).takeRetainedValue().completion(status)
        }
        if status != 0 {
            Unmanaged.passUnretained(write).release()
            completion(status)
        }
    }
}
