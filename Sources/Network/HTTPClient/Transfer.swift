import Basics
import CCurl
import Dispatch
import HTTPTypes
import Synchronization

/// One exchange between its caller and the thread that runs it.
///
/// Sendable although it is mutable: what both sides use is under a lock, and the rest belongs to the thread.
final class Transfer: @unchecked Sendable {  // the unlocked part is used by the transfer's thread only
    /// The body of the request.
    enum Body {
        case none
        case bytes([UInt8])
        /// Written by the caller in pieces.
        case written(size: Int64)

        var size: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .written(let size): size
            }
        }
    }

    /// The way of the bodies between the caller and the thread; see the properties of the transfer.
    struct Mode {
        var body = Body.none
        var isTaken = false
        var isStreamed = false
    }

    /// The header section of a response.
    struct Head: Sendable {
        var status = 0
        var fields = HTTPFields()
    }

    /// The most bytes of a body that are kept between the caller and libcurl.
    static let window = 128 << 10

    struct State {
        var outgoing = ByteRing(capacity: Transfer.window)
        /// The number of body bytes that the caller wrote, and that libcurl took.
        var written: Int64 = 0
        var taken: Int64 = 0
        /// Whether the caller said that the body is complete. The last byte is held back until then.
        var isComplete = false
        var isWaitingForBytes = false
        var incoming = ByteRing(capacity: Transfer.window)
        var isWaitingForReader = false
        /// The memory of a reader that waits: it gets the bytes that are received next.
        var wanted: WantedBytes?
        /// The header section of the response, once it is complete.
        var head: Head?
        var result: Result<HTTPReply, any Error>?
        var waiting: [@Sendable () -> Void] = []

        /// The number of written bytes that may be sent now.
        var sendable: Int { outgoing.count - (!isComplete && outgoing.count > 0 && isWhole ? 1 : 0) }
        /// Whether all bytes are written.
        var isWhole = false

        mutating func takeWaiting() -> [@Sendable () -> Void] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// The memory of a reader, and the number of bytes that it has got.
    struct WantedBytes: @unchecked Sendable {  // used while its reader waits
        let buffer: UnsafeMutableRawBufferPointer
        var count = 0

        var free: Int { buffer.count - count }

        /// Returns whether there was space for all bytes.
        mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard bytes.count <= free else { return false }
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
            count += bytes.count
            return true
        }
    }

    let method: String
    let url: String
    let fields: HTTPFields
    let body: Body
    /// Whether the caller takes the response's body in pieces; otherwise it is kept for the reply.
    let isTaken: Bool
    /// Whether the caller streams a body by itself. Such a transfer needs little memory, and a body of it is never sent twice.
    let isStreamed: Bool
    let options: HTTPConnection.Options
    let thread: any TransferRunner
    /// The loop of a caller that runs the transfer by itself; `nil` if a thread for transfers does.
    let reader: ReaderLoop?
    let cache: TransferCache
    /// Called once, at the end.
    private let ended: @Sendable (Transfer) -> Void
    let state = Lock(State())

    // MARK: Used by the thread only

    var handle: UnsafeMutableRawPointer?
    var lists: [UnsafeMutablePointer<curl_slist>?] = []
    var message: UnsafeMutablePointer<CChar>?
    /// Reports that a callback changed something for the caller.
    var touch: ((Transfer) -> Void)?
    var isTouched = false
    var mustResume = false
    /// The number of body bytes transferred at the last check, and the time of the latest progress.
    var progress: (bytes: Int64, time: ContinuousClock.Instant) = (0, .now)
    var head = Head()
    var isHeadComplete = false
    /// The number of bytes of the response's body that have not arrived.
    var remaining = Int64.max
    /// The kept bytes of the response's body.
    var kept = KeptBody()
    /// The number of bytes of `Body.bytes` that libcurl took.
    var offset = 0
    /// The failure of a callback.
    var failure: (any Error)?

    /// - Parameter request: its own body is ignored.
    init(
        _ request: HTTPRequest, _ mode: Mode, _ options: HTTPConnection.Options, on thread: any TransferRunner,
        _ cache: TransferCache, ended: @escaping @Sendable (Transfer) -> Void
    ) {
        method = request.method
        url = request.url
        fields = request.fields
        body = mode.body
        isTaken = mode.isTaken
        isStreamed = mode.isStreamed
        self.options = options
        self.thread = thread
        reader = thread as? ReaderLoop
        self.cache = cache
        self.ended = ended
    }

    // MARK: Used by the caller

    /// Runs the transfer.
    func start() {
        guard thread.post(.start(self)) else {
            return end(.failure(TransferFailure.connection("the process has too many open files")))
        }
    }

    /// Ends the transfer, unless it has ended.
    func cancel(_ reason: any Error = CancellationError()) {
        let waiting = state.withLock { state -> [@Sendable () -> Void]? in
            guard state.result == nil else { return nil }
            state.result = .failure(reason)
            return state.takeWaiting()
        }
        guard let waiting else { return }
        thread.post(.cancel(self))
        for wake in waiting { wake() }
    }

    var isOver: Bool { state.withLock { $0.result != nil } }

    /// Whether the transfer ended without a response; `isOver` is also true if its last bytes were not read yet.
    var isCanceled: Bool {
        state.withLock { if case .failure = $0.result { true } else { false } }
    }

    /// The number of bytes that the caller wrote.
    var written: Int64 { state.withLock { $0.written } }

    /// The number of bytes of a written body that were passed to libcurl.
    var taken: Int64 { state.withLock { $0.taken } }

    /// Repeats a step under the lock until it has a result; between attempts it waits for a change.
    func next<T: Sendable>(_ step: @escaping @Sendable (inout State) throws -> T?) async throws -> T {
        while true {
            let outcome: Result<T, any Error>? = await withCheckedContinuation { continuation in
                let outcome = attempt(step) { continuation.resume(returning: nil) }
                if let outcome { continuation.resume(returning: outcome) }
            }
            if let outcome { return try outcome.get() }
        }
    }

    /// Like `next`, but blocks this thread.
    func nextBlocking<T: Sendable>(_ step: @Sendable (inout State) throws -> T?) throws -> T {
        if let reader { return try reader.run { attempt(step, orWake: nil) }.get() }
        let changed = DispatchSemaphore(value: 0)
        while true {
            if let outcome = attempt(step, orWake: { changed.signal() }) { return try outcome.get() }
            changed.wait()
        }
    }

    private func attempt<T: Sendable>(
        _ step: @Sendable (inout State) throws -> T?, orWake wake: (@Sendable () -> Void)?
    ) -> Result<T, any Error>? {
        state.withLock { state in
            do {
                if let value = try step(&state) { return .success(value) }
                if let wake { state.waiting.append(wake) }
                return nil
            } catch {
                return .failure(error)
            }
        }
    }

    // MARK: Used by the thread

    var isWaitingForReader: Bool { state.withLock { $0.isWaitingForReader } }

    /// Ends the wait for the reader.
    ///
    /// - Returns: whether there was one.
    func takeWaitForReader() -> Bool {
        state.withLock { state in
            defer { state.isWaitingForReader = false }
            return state.isWaitingForReader
        }
    }

    /// Whether the transfer continues only after the caller acts.
    var isWaitingForCaller: Bool { state.withLock { $0.isWaitingForReader || $0.isWaitingForBytes } }

    /// Ends the transfer with its result, unless it was canceled before.
    func end(_ result: Result<HTTPReply, any Error>) {
        let waiting = state.withLock { state in
            if state.result == nil { state.result = result }
            return state.takeWaiting()
        }
        for wake in waiting { wake() }
        ended(self)
    }

    /// Wakes the callers after callbacks.
    ///
    /// - Returns: whether the transfer must be resumed.
    func takeTouch() -> Bool {
        isTouched = false
        for wake in state.withLock({ $0.takeWaiting() }) { wake() }
        defer { mustResume = false }
        return mustResume
    }
}

/// The bytes of a response's body that are kept for the reply.
struct KeptBody {
    private(set) var bytes: [UInt8] = []
    /// The number of bytes that arrived, kept or not.
    private var size = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer, status: Int) throws {
        size += bytes.count
        guard size <= HTTPConnection.maximumKeptBody else {
            throw TransferFailure.unusable("the server's response is too long")
        }
        let maximum =
            (200..<300).contains(status) ? HTTPConnection.maximumKeptBody : HTTPConnection.maximumKeptError
        self.bytes += bytes.prefix(max(0, maximum - self.bytes.count))
    }
}

/// The thread for some of a client's exchanges, with their connections. At its end, the kept connections are closed.
final class TransferLane: Sendable {
    let thread: any TransferRunner
    let cache = TransferCache()

    init(on thread: TransferThread) {
        self.thread = thread
    }

    deinit {
        thread.post(.release(cache))
    }
}
