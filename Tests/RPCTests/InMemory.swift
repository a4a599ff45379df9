import GatewayErrors
import HTTPTypes
import RPC
import Synchronization
import Wire

/// A loop without a thread: its time stands still, and its tasks run where they are started, unless they are held.
final class StillLoop: CallLoop {
    var executor: any TaskExecutor { jobs }
    private let jobs = InlineExecutor()
    let handlerTasks: HandlerTasks
    var now: UInt64 { 1_000_000_000 }

    init() {
        handlerTasks = HandlerTasks(executor: jobs)
    }

    /// Runs the tasks that `action` starts after it, like a loop that reads many calls at once.
    func holdingTasks(_ action: () throws -> Void) rethrows {
        jobs.hold()
        defer { jobs.runHeld() }
        try action()
    }

    deinit {
        handlerTasks.end()
    }

    func schedule(at time: UInt64, _ action: @escaping () -> Void) -> LoopTimer {
        LoopTimer(time: time, action: action)
    }
}

/// Runs each job at once on the enqueuing thread, or when the hold ends.
private final class InlineExecutor: TaskExecutor {
    private let held = Mutex<[UnownedJob]?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = held.withLock { held in
            held?.append(job)
            return held != nil
        }
        if !isHeld { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func hold() { held.withLock { $0 = [] } }

    func runHeld() {
        let jobs = held.withLock { $0.take() }
        for job in jobs ?? [] { job.runSynchronously(on: asUnownedTaskExecutor()) }
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
    private let connection: ServerConnection
    let loop = StillLoop()

    convenience init(_ router: Router, interceptors: [any Interceptor] = [], limits: RPCLimits = .small) {
        self.init(RPCServer(router: router, interceptors: interceptors, limits: limits, errors: .gateway))
    }

    init(_ server: RPCServer, from host: String = "192.0.2.1", settings: HTTP2Settings = HTTP2Settings()) {
        connection = ServerConnection(server: server, loop: loop, peer: PeerAddress(host: host, port: 4711))
        session = HTTP2Session(role: .client, settings: settings, host: self)
    }

    deinit {
        connection.connectionLost(nil)
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
        var headers = Self.callHeaders.compactMap { name, value -> (name: String, value: [UInt8])? in
            guard let change = changes[name] else { return (name, Array(value.utf8)) }
            return change.map { (name, Array($0.utf8)) }
        }
        headers += more.map { ($0.0, Array($0.1.utf8)) }
        let stream = Stream()
        _ = session?.open(stream, HeaderBlock(headers), hasBody: true)
        stream.write(body)
        if isWhole { stream.finish() }
        try exchange()
        return stream
    }

    /// Exchanges bytes in both directions until neither side has any.
    func exchange() throws {
        var moved = true
        while moved {
            moved = false
            while let bytes = try session?.nextOutput() {
                moved = true
                try connection.receive(bytes)
            }
            while let bytes = try connection.nextOutput() {
                moved = true
                try session?.receive(bytes)
            }
        }
    }
}
