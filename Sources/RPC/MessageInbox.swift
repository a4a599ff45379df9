/// Messages that arrived and wait for their one reader. Confined to a connection's loop, where its reader runs too.
final class MessageInbox<Element: Sendable> {
    /// Bytes of messages that may wait before the sender has to.
    static var highWater: Int { 64 * 1024 }

    private var waiting: [(message: Element, size: Int)] = []
    /// How many of `waiting` were read; they go when they are half of it, so that reading costs the same however many
    /// wait: a window holds fifty thousand empty messages.
    private var read = 0
    /// Bytes of the messages that wait.
    private(set) var bytes = 0
    private var outcome: Result<Void, any Error>?
    private var reader: CheckedContinuation<Element?, any Error>?

    /// Whether so much waits that the flow-control window is to stay shut.
    var isFull: Bool { bytes >= Self.highWater }

    /// - Parameter size: bytes that the message took on the wire.
    func deliver(_ message: Element, size: Int) {
        if let reader {
            self.reader = nil
            reader.resume(returning: message)
        } else {
            waiting.append((message, size))
            bytes += size
        }
    }

    /// No message comes any more: what waits is still read, then the end, or `error`.
    func end(throwing error: (any Error)? = nil) {
        guard outcome == nil else { return }
        outcome = error.map { .failure($0) } ?? .success(())
        if let reader {
            self.reader = nil
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        }
    }

    /// Forgets the messages that wait.
    func drop() { (waiting, read, bytes) = ([], 0, 0) }

    /// The next message, or `nil` at the end.
    func next() async throws -> Element? {
        if read < waiting.count {
            let (message, size) = waiting[read]
            read += 1
            bytes -= size
            if 2 * read >= waiting.count {
                waiting.removeFirst(read)
                read = 0
            }
            return message
        }
        if let outcome {
            try outcome.get()
            return nil
        }
        return try await withCheckedThrowingContinuation { reader = $0 }
    }
}
