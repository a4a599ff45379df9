import Basics
import Dispatch
import Foundation
import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that whoever has something to say never waits for a disk or a
/// pipe. What does not fit the buffer is dropped and counted, and the next line that fits says how many there were.
final class LogWriter: Sendable {
    private struct Waiting {
        var bytes: [UInt8] = []
        var dropped = 0
        /// The thread waits to be told.
        var isIdle = false
    }

    /// After each write the thread rests so long: under load it writes many lines at once, and nobody pays for waking it.
    private static let rest: UInt32 = 10_000

    /// A buffer that has grown beyond is not kept, in bytes.
    private static let keptCapacity = 256 << 10

    private let descriptor: Int32
    private let capacity: Int
    private let lost: @Sendable (_ count: Int) -> [UInt8]
    private let waiting = Lock(Waiting())
    private let wake = DispatchSemaphore(value: 0)
    /// Held by who writes, so that lines keep their order: the memory in which the next lines are gathered meanwhile.
    private let writing = Lock<[UInt8]>([])
    private let droppedSoFar = Atomic<Int>(0)

    /// - Parameters:
    ///   - capacity: of the buffer, in bytes.
    ///   - lost: the line that says how many lines were dropped.
    init(descriptor: Int32, capacity: Int = 1 << 20, lost: @escaping @Sendable (_ count: Int) -> [UInt8]) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.lost = lost
    }

    /// Lines that were lost.
    var dropped: Int { droppedSoFar.load(ordering: .relaxed) }

    /// From now on ``append(_:)`` needs no ``drain()``.
    func start() {
        let thread = Thread { [self] in run() }
        thread.name = "log"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// - Parameter line: with its end; it is copied.
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

    /// Writes what waits, on the thread of the caller.
    func drain() {
        writing.withLock { bytes in
            let dropped = waiting.withLock { waiting in
                // Two buffers take turns, so that a line costs no allocation.
                swap(&waiting.bytes, &bytes)
                defer { waiting.dropped = 0 }
                return waiting.dropped
            }
            write(bytes)
            if dropped > 0 { write(lost(dropped)) }
            bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        }
    }

    /// The same on a thread of its own, which a reader that has stopped reading may keep for ever.
    func flush(limit: DispatchTimeInterval) {
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
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

    /// A full disk or a reader that is gone loses lines, never the gateway.
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
