import EventLoops
import HTTPTypes
import RPC
import Wire

/// An HTTP/2 connection to a server within this process, for one call.
///
/// Sendable although it has state: that is touched on its loop only, but for `init`.
final class InnerConnection: HTTP2SessionHost, @unchecked Sendable {
    private let loop: EventLoop
    private let progress: CallProgress
    private let server: RPCServer
    private let peer: PeerAddress
    private var connection: ServerConnection?
    private var session: HTTP2Session?
    private var stream: InnerStream?
    private var isPumpScheduled = false

    init(server: RPCServer, loop: EventLoop, peer: PeerAddress, progress: CallProgress) {
        self.server = server
        self.loop = loop
        self.peer = peer
        self.progress = progress
    }

    // MARK: the call, on the loop

    func open(_ request: HeaderBlock, hasBody: Bool) {
        let connection = ServerConnection(server: server, loop: loop, peer: peer, mayWait: false)
        let session = HTTP2Session(role: .client, host: self)
        let stream = InnerStream(progress)
        connection.onOutput = { [unowned self] in outputPending() }
        (self.connection, self.session, self.stream) = (connection, session, stream)
        _ = session.open(stream, request, hasBody: hasBody)
    }

    func send(_ bytes: [UInt8]) { stream?.write(bytes) }

    func finish() { stream?.finish() }

    /// The thread has taken so many bytes of the response.
    func consume(_ count: Int) { stream?.consume(count) }

    /// The client is gone, or wants no more.
    func cancel() { end() }

    // MARK: bytes

    var now: UInt64 { loop.now }

    func outputPending() {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        // Later: nghttp2 is not to be called from within its own callbacks.
        loop.run { [self] in pump() }
    }

    /// Carries bytes both ways until neither side has any.
    private func pump() {
        isPumpScheduled = false
        guard let session, let connection else { return }
        do {
            var hasMoved = true
            while hasMoved {
                hasMoved = false
                while let bytes = try session.nextOutput() {
                    try connection.receive(bytes)
                    hasMoved = true
                }
                while let bytes = try connection.nextOutput() {
                    try session.receive(bytes)
                    hasMoved = true
                }
            }
        } catch {
            // Both ends are ours; what they cannot agree on came from the client, and ends its call.
            return end()
        }
        if stream?.isClosed == true || connection.isAborted || connection.isFinished { return end() }
        stream?.report()
    }

    private func end() {
        guard let connection else { return }
        // A handler that is slow to end may keep the connection beyond this object.
        connection.onOutput = {}
        session?.abandon()
        connection.connectionLost(nil)
        stream?.report()
        (self.connection, session, stream) = (nil, nil, nil)
    }
}

/// The client's side of the call: gathers what came, until it is reported to the thread that waits for it.
private final class InnerStream: HTTP2Stream {
    private let progress: CallProgress
    private var head: (status: Int, fields: HTTPFields)?
    private var fields = HTTPFields()
    private var status = 0
    private var body: [UInt8] = []
    private var isWhole = false
    private(set) var isClosed = false

    init(_ progress: CallProgress) {
        self.progress = progress
    }

    override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let name = String(decoding: name, as: UTF8.self)
        let value = String(decoding: value, as: UTF8.self)
        if name == ":status" { status = Int(value) ?? 0 } else { fields.append(name, value) }
    }

    override func receiveHeadersEnd(isTrailers: Bool) {
        if !isTrailers { head = (status, fields) }
    }

    override func receive(data: UnsafeRawBufferPointer) { body.append(contentsOf: data) }

    override func receiveEnd() { isWhole = true }

    override func closed(code: UInt32) { isClosed = true }

    /// All at once: a response that is whole when it is first seen can be sent with its length.
    func report() {
        let (head, unsent, isWhole, isClosed) = (head, unsentBytes, isWhole, isClosed)
        progress.update { state in
            state.head = head
            state.body += body
            state.unsent = unsent
            if state.end == nil { state.end = isWhole ? .complete : isClosed ? .broken : nil }
        }
        body = []
    }
}
