import Basics
import HTTPTypes
import Proto

/// Archives that a page sends for a restore. They are not sent in parts, because the gateway checks them on the way; after a lost
/// connection, another request continues.
extension Console {
    private static let prefix = "restore/archives/"

    /// Returns the id of the staged archive whose bytes a request sends; `nil` if it is another request.
    static func stagedArchive(_ name: Substring) -> Substring? {
        guard name.hasPrefix(prefix) else { return nil }
        let id = name.dropFirst(prefix.count)
        return id.utf8.count == 32 && id.utf8.allSatisfy(\.isASCIIAlphanumeric) ? id : nil
    }

    func receiveArchive(_ id: Substring, in session: Session, for head: HTTPRequestHead) -> HTTPDisposition {
        switch accessToken(of: session, for: head) {
        case .refused(let response): return .respond(response)
        case .answered(let token):
            let query = head.target.firstIndex(of: "?").map { head.target[$0...] } ?? ""
            switch calls.receive("/v1/\(Self.prefix)\(id)\(query)", token, for: head) {
            case .respond(let response): return .respond(ArchiveBody.response(to: response))
            case .receive(let body): return .receive(ArchiveBody(body) { end(session) })
            }
        }
    }
}

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
            case .bytes(let json): RouteFailure(json: json)
            case .file, .stream, .omitted: nil
            }
        let message = failure?.message ?? "the gateway refused the archive"
        return .refusal(response.status == 409 ? .aborted(message) : .passedOn(response.status, message))
    }
}
