public import Protobuf

/// The messages from the client, in order. The sequence ends when the client half-closes, and throws if the call fails.
///
/// One consumer at a time. Asking for the next message opens the flow-control window for it.
public struct RequestStream<Element: Message>: AsyncSequence, Sendable {
    private let pull: @Sendable () async throws -> Element?

    public init(pull: @escaping @Sendable () async throws -> Element?) {
        self.pull = pull
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: pull)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pull: @Sendable () async throws -> Element?

        public mutating func next() async throws -> Element? {
            try await pull()
        }
    }
}

/// Sends messages to the client, in order; `write` returns when the next one can be sent.
public struct ResponseWriter<Element: Message>: Sendable {
    private let push: @Sendable (Element) async throws -> Void

    public init(push: @escaping @Sendable (Element) async throws -> Void) {
        self.push = push
    }

    /// - Throws: if the call was cancelled, its deadline passed, or its connection was lost.
    public func write(_ message: Element) async throws {
        try await push(message)
    }
}
