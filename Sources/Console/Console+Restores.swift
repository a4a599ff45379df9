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
