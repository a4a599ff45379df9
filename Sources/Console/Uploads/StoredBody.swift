import HTTPTypes

/// The bytes of an upload that are passed to the object store; its response is returned as the console's.
final class StoredBody: HTTPBodySink {
    private let body: any HTTPBodySink

    init(_ body: any HTTPBodySink) {
        self.body = body
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { body.receive(bytes) }

    var isAnswered: Bool { body.isAnswered }

    var isBulk: Bool { true }

    func finish() -> HTTPResponse { StoreReply.response(to: body.finish()) }

    func abandon() { body.abandon() }
}
