import HTTPTypes

/// The download of a file that the gateway makes while it is sent: a backup or an archive of objects.
enum StreamedDownload {
    /// Returns the file while it is made, or the gateway's reason for its refusal, as a text for the user. The download of an
    /// incomplete file is aborted, as the gateway's own response is.
    ///
    /// - Parameters:
    ///   - answer: the gateway's REST response.
    ///   - type: the file's media type.
    static func response(_ answer: HTTPResponse, named name: String, type: String) -> HTTPResponse {
        guard answer.status == 200 else { return refusal(answer) }
        let fields: HTTPFields = ["Content-Type": type, "Content-Disposition": "attachment; filename=\"\(name)\""]
        return .console(200, fields, body: answer.body)
    }

    private static func refusal(_ answer: HTTPResponse) -> HTTPResponse {
        var reason = "the gateway sent no file"
        switch answer.body {
        case .bytes(let json): reason = RouteFailure(json)?.message ?? reason
        case .stream(let source, _): source.close()
        case .file, .omitted: break
        }
        let status = answer.status == 401 ? 401 : 409
        return .console(status, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
    }
}
