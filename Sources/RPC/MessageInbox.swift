/// Received messages that wait for their one reader. Confined to a connection's loop, where its reader runs too.
final class MessageInbox<Element: Sendable> {
    /// The size of waiting messages, in bytes, from which the sender must wait.
    static var highWater: Int { 64 * 1024 }

    private var waiting: [(message: Element, size: Int)] = []
    /// The number of `waiting` messages that were read; they are removed when they are half of it. So reading has constant cost,
    /// although a window holds fifty thousand empty messages.
    private var read = 0
    /// The size of the waiting messages, in bytes.
    private(set) var bytes = 0
    private var outcome: Result<Void, any Error>?
    private var reader: CheckedContinuation<Element?, any Error>?

    /// Whether the flow-control window must stay closed because of the waiting messages.
    var isFull: Bool { bytes >= Self.highWater }

    /// Whether the reader waits for a message.
    var isAwaited: Bool { reader != nil }

    /// - Parameter size: the encoded size of the message, in bytes.
    func deliver(_ message: Element, size: Int) {
        if let reader {
            self.reader = nil
            reader.resume(returning: message)
        } else {
            waiting.append((message, size))
            bytes += size
        }
    }

    /// Ends the messages: waiting ones are still read, then the end, or `error`.
    func end(throwing error: (any Error)? = nil) {
        guard outcome == nil else { return }
        outcome = error.map { .failure($0) } ?? .success(())
        if let reader {
            self.reader = nil
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        }
    }

    /// Discards the waiting messages.
    func drop() { (waiting, read, bytes) = ([], 0, 0) }

    /// Returns the next message, or `nil` at the end.
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
