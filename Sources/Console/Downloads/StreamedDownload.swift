import HTTPTypes

/// The download of a file that the gateway makes while it is sent: a backup or an archive of objects.
enum StreamedDownload {
    /// Returns the file while it is made, or the gateway's reason for its refusal, as a text for the user. The download of an
    /// incomplete file is aborted, as the gateway's own response is.
    ///
    /// - Parameters:
    ///   - response: the gateway's REST response.
    ///   - type: the file's media type.
    static func response(_ response: HTTPResponse, named name: String, type: String) -> HTTPResponse {
        guard response.status == 200 else { return refusal(response) }
        let fields: HTTPFields = ["Content-Type": type, "Content-Disposition": "attachment; filename=\"\(name)\""]
        return .console(200, fields, body: response.body)
    }

    private static func refusal(_ response: HTTPResponse) -> HTTPResponse {
        var reason = "the gateway sent no file"
        switch response.body {
        case .bytes(let json): reason = RouteFailure(json)?.message ?? reason
        case .stream(let source, _): source.close()
        case .file, .omitted: break
        }
        let status = response.status == 401 ? 401 : 409
        return .console(status, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
    }
}
