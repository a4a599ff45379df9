import HTTPTypes
import RPC

/// The response on its way from the call to the thread: no more bytes leave than the thread has space for.
struct ResponseWindow {
    /// The number of response bytes that may wait for the thread; further bytes count as unsent, and hold the handler.
    static let size = 256 << 10

    private enum End {
        /// The call may send more.
        case open
        case complete
        /// The response ends incomplete.
        case brokenOff
    }

    /// The response's status and header fields, once they are known.
    private(set) var head: (status: Int, fields: HTTPFields)?
    /// The output that exceeds the window; `queueStart` bytes of the first piece were taken already.
    private var queue: [[UInt8]] = []
    private var queueStart = 0
    private var capacity = ResponseWindow.size
    private var end = End.open
    /// The number of bytes that the call has sent and the thread has no space for.
    private(set) var unsentBytes = 0
    /// The number of bytes that have left for the thread.
    private(set) var producedBytes: UInt64 = 0
    /// Whether the thread reads a source of the response.
    private(set) var hasSource = false
    /// Whether a report to the thread is scheduled.
    private var isReportScheduled = false

    var isEmpty: Bool { queue.isEmpty }

    /// The end of a response of which everything has left; `nil` before that.
    var finalEnd: CallProgress.End? {
        guard queue.isEmpty else { return nil }
        return switch end {
        case .open: nil
        case .complete: .complete
        case .brokenOff: .brokenOff
        }
    }

    /// Adds a part of the response.
    mutating func append(_ part: ResponsePart) {
        if let head = part.head {
            var fields = HTTPFields()
            for (name, value) in head.fields { fields.append(name, String(decoding: value, as: UTF8.self)) }
            self.head = (head.status ?? 0, fields)
        }
        if !part.body.isEmpty {
            queue.append(part.body)
            unsentBytes += part.body.count
        }
        if case .broken = part.end { end = .brokenOff } else if part.isLast { end = .complete }
    }

    /// Handles that something is to be reported to the thread.
    ///
    /// - Returns: whether a report has to be scheduled, because none is.
    mutating func scheduleReport() -> Bool {
        defer { isReportScheduled = true }
        return !isReportScheduled
    }

    /// Takes the pieces that the window has capacity for from the queue. Only a piece that exceeds the window is divided: the thread gets
    /// all others without a copy.
    mutating func take() -> [[UInt8]] {
        isReportScheduled = false
        var ready: [[UInt8]] = []
        while let first = queue.first, capacity > 0 {
            if queueStart == 0, first.count <= capacity {
                ready.append(queue.removeFirst())
                leave(first.count)
                continue
            }
            guard queueStart > 0 || first.count > Self.size else { break }
            let part = first[queueStart...].prefix(capacity)
            ready.append(Array(part))
            queueStart += part.count
            leave(part.count)
            guard queueStart == first.count else { break }
            queue.removeFirst()
            queueStart = 0
        }
        return ready
    }

    private mutating func leave(_ count: Int) {
        capacity -= count
        unsentBytes -= count
        producedBytes += UInt64(count)
    }

    /// Handles that the thread has taken this number of bytes.
    mutating func consume(_ count: Int) { capacity += count }

    mutating func beginSource() { hasSource = true }

    /// Handles that the thread reads no more of the source.
    ///
    /// - Returns: whether there was one.
    mutating func endSource() -> Bool {
        defer { hasSource = false }
        return hasSource
    }

    /// Discards what has not left.
    ///
    /// - Returns: its bytes.
    mutating func drop() -> Int {
        defer { (queue, queueStart, unsentBytes) = ([], 0, 0) }
        return unsentBytes
    }
}
