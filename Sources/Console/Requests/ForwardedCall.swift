import HTTPTypes

/// A browser's call on its way to the gateway, whose answer goes back as the console's.
final class ForwardedCall: HTTPBodySink {
    private let call: any HTTPBodySink
    private let refused: () -> Void

    /// - Parameter refused: told when the gateway does not take the session's token any more: its user's password or role
    ///   was changed, or the user is gone.
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
