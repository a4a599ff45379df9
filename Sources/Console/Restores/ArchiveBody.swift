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
        let answer = body.finish()
        if answer.status == 401 { refused() }
        return Self.response(to: answer)
    }

    func abandon() { body.abandon() }

    /// Returns the console's form of the REST route's response.
    static func response(to answer: HTTPResponse) -> HTTPResponse {
        guard answer.status != 200 else { return answer.securedForConsole }
        guard answer.status != 401 else { return .refusal(.signedOut) }
        let failure: RouteFailure? =
            switch answer.body {
            case .bytes(let json): RouteFailure(json)
            case .file, .stream, .omitted: nil
            }
        let message = failure?.message ?? "the gateway refused the archive"
        return .refusal(answer.status == 409 ? .aborted(message) : .passedOn(answer.status, message))
    }
}
