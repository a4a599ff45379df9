import HTTPTypes

/// A body that is being received into the store.
final class StoreBody: HTTPBodySink {
    private let take: (UnsafeRawBufferPointer) -> Void
    private let complete: () -> HTTPResponse
    private let leave: () -> Void

    init(
        take: @escaping (UnsafeRawBufferPointer) -> Void, complete: @escaping () -> HTTPResponse,
        leave: @escaping () -> Void
    ) {
        self.take = take
        self.complete = complete
        self.leave = leave
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { take(bytes) }
    func finish() -> HTTPResponse { complete() }
    func abandon() { leave() }
}
