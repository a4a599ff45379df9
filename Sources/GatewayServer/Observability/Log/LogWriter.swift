import Basics
import Dispatch
import Glibc
import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that callers never wait for a disk or a pipe. Lines that do not fit into
/// the buffer are dropped and counted, and the next line that fits reports their number.
final class LogWriter: Sendable {
    private struct Waiting {
        var bytes: [UInt8] = []
        var dropped = 0
        /// Whether the thread waits to be woken.
        var isIdle = false
    }

    /// The pause of the thread after each write, in microseconds: under load it writes many lines at once, and callers need not
    /// wake it.
    private static let rest: UInt32 = 10_000

    /// The capacity in bytes above which a grown buffer is not kept.
    private static let keptCapacity = 256 << 10

    private let descriptor: Int32
    private let capacity: Int
    private let lost: @Sendable (_ count: Int) -> [UInt8]
    private let waiting = Lock(Waiting())
    private let wake = DispatchSemaphore(value: 0)
    /// The second buffer, whose lock is held while writing, so that lines stay in order.
    private let writing = Lock<[UInt8]>([])
    private let droppedSoFar = Atomic<Int>(0)

    /// - Parameters:
    ///   - capacity: the size of the buffer in bytes.
    ///   - lost: returns the line that reports dropped lines.
    init(descriptor: Int32, capacity: Int = 1 << 20, lost: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.lost = lost
    }

    /// The number of dropped lines.
    var dropped: Int { droppedSoFar.load(ordering: .relaxed) }

    /// Starts the thread, after which ``append(_:)`` needs no ``drain()``.
    func start() {
        Worker.thread("log", stackSize: 256 << 10).post { [self] in run() }
    }

    /// - Parameter line: the line with its end; it is copied.
    func append(_ line: UnsafeRawBufferPointer) {
        let wakes = waiting.withLock { waiting in
            guard waiting.bytes.count + line.count <= capacity else {
                waiting.dropped += 1
                droppedSoFar.add(1, ordering: .relaxed)
                return false
            }
            waiting.bytes.append(contentsOf: line)
            defer { waiting.isIdle = false }
            return waiting.isIdle
        }
        if wakes { wake.signal() }
    }

    /// Writes waiting lines on the caller's thread.
    func drain() {
        writing.withLock { bytes in
            let dropped = waiting.withLock { waiting in
                // The two buffers are swapped, so that a line costs no allocation.
                swap(&waiting.bytes, &bytes)
                defer { waiting.dropped = 0 }
                return waiting.dropped
            }
            write(bytes)
            if dropped > 0 { write(lost(dropped)) }
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        }
    }

    /// Writes waiting lines on another thread, which may be blocked forever by a reader that has stopped reading.
    func flush(limit: DispatchTimeInterval) {
        let isDone = DispatchSemaphore(value: 0)
        Worker.thread("log-end").post { [self] in
            drain()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + limit)
    }

    private func run() {
        while true {
            let isIdle = waiting.withLock { waiting in
                waiting.isIdle = waiting.bytes.isEmpty && waiting.dropped == 0
                return waiting.isIdle
            }
            if isIdle {
                wake.wait()
            } else {
                drain()
                usleep(Self.rest)
            }
        }
    }

    /// Writes bytes. On a full disk or without a reader, lines are lost, but the gateway continues.
    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&descriptors, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
