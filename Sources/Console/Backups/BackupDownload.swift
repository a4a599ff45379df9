import Foundation
import HTTPTypes

/// The download of a backup, as a browser gets it.
enum BackupDownload {
    private struct Failure: Decodable {
        struct Reason: Decodable {
            let message: String
        }

        let error: Reason
    }

    /// The archive as it is made, or the gateway's reason why there is none, in words for the user. An archive that is not whole
    /// breaks off, as the gateway's own response does.
    ///
    /// - Parameter answer: the gateway's response by REST.
    static func response(_ answer: HTTPResponse, named name: String) -> HTTPResponse {
        guard answer.status == 200 else { return refusal(answer) }
        let fields: HTTPFields = [
            "Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename=\"\(name)\"",
        ]
        return .console(200, fields, body: answer.body)
    }

    private static func refusal(_ answer: HTTPResponse) -> HTTPResponse {
        var reason = "the gateway sent no backup"
        switch answer.body {
        case .bytes(let json):
            if let failure = try? JSONDecoder().decode(Failure.self, from: Data(json)) {
                reason = failure.error.message
            }
        case .stream(let source): source.close()
        case .file, .omitted: break
        }
        let status = answer.status == 401 ? 401 : 409
        return .console(status, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
    }
}
