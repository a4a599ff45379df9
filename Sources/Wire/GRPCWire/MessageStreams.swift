import Protobuf

/// The messages that a client sends, in order; ends when the client half-closes, throws when the call breaks off.
///
/// One consumer at a time. Asking for the next message is what opens the flow-control window for it.
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

/// Sends messages to the client, in order; `write` returns when there is room for the next one.
public struct ResponseWriter<Element: Message>: Sendable {
    private let push: @Sendable (Element) async throws -> Void

    public init(push: @escaping @Sendable (Element) async throws -> Void) {
        self.push = push
    }

    /// - Throws: when the call was cancelled, its deadline passed, or its connection is gone.
    public func write(_ message: Element) async throws {
        try await push(message)
    }
}
