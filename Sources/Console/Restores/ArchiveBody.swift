import HTTPTypes

/// The bytes of an archive that are passed to the gateway; its response is returned as the console's.
final class ArchiveBody: HTTPBodySink {
    private let body: any HTTPBodySink
    private let refused: () -> Void

    /// - Parameter refused: called if the gateway no longer accepts the session's token.
    init(_ body: any HTTPBodySink, refused: @escaping () -> Void) {
        self.body = body
        self.refused = refused
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { body.receive(bytes) }

    var isAnswered: Bool { body.isAnswered }

    var isBulk: Bool { body.isBulk }

    func finish() -> HTTPResponse {
        let response = body.finish()
        if response.status == 401 { refused() }
        return Self.response(to: response)
    }

    func abandon() { body.abandon() }

    /// Returns the console's form of the REST route's response.
    static func response(to response: HTTPResponse) -> HTTPResponse {
        guard response.status != 200 else { return response.securedForConsole }
        guard response.status != 401 else { return .refusal(.signedOut) }
        let failure: RouteFailure? =
            switch response.body {
            case .bytes(let json): RouteFailure(json)
            case .file, .stream, .omitted: nil
            }
        let message = failure?.message ?? "the gateway refused the archive"
        return .refusal(response.status == 409 ? .aborted(message) : .passedOn(response.status, message))
    }
}
