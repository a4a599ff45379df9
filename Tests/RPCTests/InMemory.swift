import GatewayFormats
import HTTPTypes
import RPC
import Wire

/// A loop without a thread: its time stands still unless the test moves it, and its lanes' work is done where it arrives, unless it
/// is held. Used by the test's thread only.
final class StillLoop: CallLoop, @unchecked Sendable {  // used by one thread
    var now: UInt64 = 1_000_000_000
    private var lanes: CallTurns?
    private var isHeld = false
    private var isRunning = false
    private var timers: [LoopTimer] = []

    init() {
        lanes = CallTurns(of: self)
    }

    var turns: CallTurns {
        guard let lanes else { preconditionFailure("the loop was stopped") }
        return lanes
    }

    var executor: any TaskExecutor { turns.gateway }

    /// Whether the test's thread counts as the loop's.
    var isCurrent = true

    func preconditionCurrent() { precondition(isCurrent, "this belongs to a loop, and another thread uses it") }

    func post(_ job: UnownedJob, to lane: Lane) { lane.add(job) }

    func workArrived() {
        if !isHeld { runAll() }
    }

    private func runAll() {
        guard !isRunning, let lanes else { return }
        isRunning = true
        lanes.run(from: now, until: .max)
        isRunning = false
    }

    /// Runs the work that arrives during `action` after it, like a loop that reads many calls at once.
    func holdingTasks(_ action: () throws -> Void) rethrows {
        isHeld = true
        defer {
            isHeld = false
            runAll()
        }
        try action()
    }

    /// Holds all work from now on, until `runTurn` runs some of it.
    func hold() { isHeld = true }

    /// Runs work for one turn of a loop, by the test's clock.
    func runTurn() { turns.run(from: now, until: now + CallTurns.budget) }

    func stop() {
        timers = []
        lanes?.stop()
        lanes = nil
    }

    func schedule(at time: UInt64, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(time: time, action: action)
        timers.append(timer)
        return timer
    }

    /// Lets time pass, with the timers that become due meanwhile.
    func pass(_ nanoseconds: UInt64) {
        let end = now + nanoseconds
        while let next = timers.filter({ !$0.isCancelled && $0.time <= end }).min(by: { $0.time < $1.time }) {
            now = max(now, next.time)
            next.fire()
            timers.removeAll(where: \.isCancelled)
        }
        now = end
    }
}

extension RPCLimits {
    /// Limits with messages of at most 1000 bytes.
    static var small: RPCLimits {
        var limits = RPCLimits()
        limits.maxMessageSize = 1000
        return limits
    }
}

/// A client that sends exactly the bytes of a test to a server connection without a socket.
final class RawClient: HTTP2SessionHost {
    final class Stream: HTTP2Stream {
        private(set) var fields: [(name: String, value: String)] = []
        private(set) var body: [UInt8] = []
        private(set) var closeCode: UInt32?
        /// The number of header and trailer sections.
        private(set) var headerSections = 0

        override func receive(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
            fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }

        override func receiveHeadersEnd(isTrailers: Bool) { headerSections += 1 }

        override func receive(data: UnsafeRawBufferPointer) { body.append(contentsOf: data) }

        override func closed(code: UInt32) { closeCode = code }

        subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    }

    private var session: HTTP2Session?
    let connection: ServerConnection
    let loop: StillLoop
    private let ownsLoop: Bool

    convenience init(
        _ router: Router, interceptors: [any Interceptor] = [], limits: RPCLimits = .small
    ) {
        self.init(
            RPCServer(
                router: router, interceptors: interceptors, limits: limits, errors: .gateway))
    }

    /// - Parameter loop: the loop of several connections, which the test stops; `nil` = one of its own.
    init(
        _ server: RPCServer, from host: String = "192.0.2.1", settings: HTTP2Settings = HTTP2Settings(),
        on loop: StillLoop? = nil
    ) {
        ownsLoop = loop == nil
        let loop = loop ?? StillLoop()
        self.loop = loop
        connection = ServerConnection(server: server, loop: loop, peer: PeerAddress(host: host, port: 4711))
        session = HTTP2Session(role: .client, settings: settings, host: self)
    }

    deinit {
        connection.connectionLost(nil)
        if ownsLoop { loop.stop() }
    }

    func outputPending() {}

    var now: UInt64 { 1_000_000_000 }

    static let callHeaders: [(String, String)] = [
        (":method", "POST"), (":scheme", "http"), (":path", "/test.Service/Echo"), (":authority", "test"),
        ("content-type", "application/grpc"), ("te", "trailers"),
    ]

    /// Makes one request, which is complete if `isWhole` is true, and returns the server's response.
    func call(
        changing changes: [String: String?] = [:], adding more: [(String, String)] = [], body: [UInt8],
        isWhole: Bool = true
    ) throws -> Stream {
        let stream = begin(changing: changes, adding: more, body: body, isWhole: isWhole)
        try exchange()
        return stream
    }

    /// Makes one request, which is sent with the next exchange.
    func begin(
        changing changes: [String: String?] = [:], adding more: [(String, String)] = [], body: [UInt8],
        isWhole: Bool = true
    ) -> Stream {
        var headers = Self.callHeaders.compactMap { name, value -> (name: String, value: [UInt8])? in
            guard let change = changes[name] else { return (name, Array(value.utf8)) }
            return change.map { (name, Array($0.utf8)) }
        }
        headers += more.map { ($0.0, Array($0.1.utf8)) }
        return open(headers, body: body, isWhole: isWhole)
    }

    private func open(_ headers: [(name: String, value: [UInt8])], body: [UInt8], isWhole: Bool) -> Stream {
        let stream = Stream()
        _ = session?.open(stream, HeaderBlock(headers), hasBody: true)
        stream.write(body)
        if isWhole { stream.finish() }
        return stream
    }

    /// Makes complete requests of a caller and returns their bytes, which no server has received yet.
    ///
    /// - Parameter origin: the address for which a proxy makes the requests; `nil` = no proxy.
    func bytes(
        of count: Int, authorization: String?, body: [UInt8], for origin: String? = nil
    ) throws -> [UInt8] {
        var headers = Self.callHeaders.map { (name: $0, value: Array($1.utf8)) }
        if let authorization { headers.append(("authorization", Array(authorization.utf8))) }
        if let origin { headers.append(("x-forwarded-for", Array(origin.utf8))) }
        for _ in 0..<count { _ = open(headers, body: body, isWhole: true) }
        var all: [UInt8] = []
        while let bytes = try session?.nextOutput() { all += bytes }
        return all
    }

    /// Exchanges bytes in both directions until neither side has any.
    func exchange() throws {
        var moved = true
        while moved {
            moved = try send()
            while let bytes = try connection.nextOutput() {
                moved = true
                _ = try session?.receive(bytes)
            }
        }
    }

    /// Sends everything to the server, and receives nothing: PINGs stay without an answer.
    ///
    /// - Returns: whether there was anything.
    @discardableResult
    func send() throws -> Bool {
        var moved = false
        while let bytes = try session?.nextOutput() {
            moved = true
            var reception = try connection.receive(bytes)
            while reception != .complete { reception = try connection.continueReceiving() }
        }
        return moved
    }
}
