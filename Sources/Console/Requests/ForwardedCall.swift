import HTTPTypes

/// The body of a browser's call that is passed to the gateway; the response is returned as the console's.
final class ForwardedCall: HTTPBodySink {
    private let call: any HTTPBodySink
    private let refused: () -> Void

    /// - Parameter refused: called if the gateway no longer accepts the session's token: the user's password or role was changed,
    ///   or the user was deleted.
    init(_ call: any HTTPBodySink, refused: @escaping () -> Void) {
        self.call = call
        self.refused = refused
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { call.receive(bytes) }

    var isAnswered: Bool { call.isAnswered }

    func finish() -> HTTPResponse {
        let response = call.finish()
        if response.status == 401 { refused() }
        return response.securedForConsole
    }

    func abandon() { call.abandon() }
}
