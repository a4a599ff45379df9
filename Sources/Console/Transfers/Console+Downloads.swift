import Basics
import Crypto
import HTTPTypes
import Proto

extension Console {
    /// Returns an address for a download. A page cannot write files of any size, and a download by the browser cannot send the
    /// session's token: the address is valid once, and only with the session's cookie.
    func offer(_ kind: OfferedDownload.Kind, at name: String, in session: Session, for head: HTTPRequestHead)
        -> HTTPResponse
    {
        let download = OfferedDownload(kind: kind, organization: head.fields["x-organization"])
        return reporting {
            // In the query, because queries are not logged.
            let query = "\(DownloadOffer.query)\(try sessions.offer(download, in: session, at: clock.now()))"
            return .console(json: DownloadOffer(path: "\(Self.root)\(name)\(query)"))
        } failure: {
            .refusal($0)
        }
    }

    func download(_ head: HTTPRequestHead) -> HTTPResponse {
        let now = clock.now()
        let session: Session
        switch self.session(ofElement: head, at: now) {
        case .refused(let response): return response
        case .answered(let found): session = found
        }
        let offered: OfferedDownload
        switch redeem(head.ticket, in: session, at: now) {
        case .refused(let response): return response
        case .answered(let found): offered = found
        }
        switch accessToken(of: session, for: head) {
        case .refused(let response): return response
        case .answered(let token):
            let (response, name, type) = stream(offered, token, head, time: CivilTime(now).textForFileName)
            if response.status == 401 { end(session) }
            return StreamedDownload.response(response, named: name, type: type)
        }
    }

    private func redeem(
        _ ticket: String?, in session: Session, at now: UnixTime
    ) -> CallOutcome<OfferedDownload> {
        reporting {
            let offered = try ticket.flatMap { try sessions.redeem($0, in: session, at: now) }
            return offered.map { .answered($0) } ?? .refused(.refusal(.ticket))
        } failure: {
            .refused(.refusal($0))
        }
    }

    private func stream(
        _ offered: OfferedDownload, _ token: Secret, _ head: HTTPRequestHead, time: String
    ) -> (HTTPResponse, name: String, type: String) {
        switch offered.kind {
        case .backup(let options):
            (
                calls.stream(
                    BackupServiceMethods.routes[0], options.json, token, for: head, in: offered.organization),
                "data-gateway-\(time).backup", "application/octet-stream"
            )
        case .archive(let options):
            (
                calls.stream(
                    ObjectArchiveServiceMethods.routes[0], options.json, token, for: head, in: offered.organization),
                "objects-\(time).zip", "application/zip"
            )
        }
    }
}

extension HTTPRequestHead {
    /// The ticket in the query; `nil` if the query has another form.
    var ticket: String? {
        let query = target.drop { $0 != "?" }
        return query.hasPrefix(DownloadOffer.query) ? String(query.dropFirst(DownloadOffer.query.count)) : nil
    }
}

/// A download that the console has offered to a browser.
struct OfferedDownload: Sendable {
    enum Kind: Sendable {
        case backup(BackupOptions)
        case archive(ArchiveOptions)
    }

    let kind: Kind
    /// The organization for which a system administrator acts; `nil` = the user's own.
    let organization: String?
}

/// The address from which the browser downloads the file.
struct DownloadOffer: Encodable {
    /// The part of the query before the ticket.
    static let query = "?ticket="

    let path: String
}

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
        case .bytes(let json): reason = RouteFailure(json: json)?.message ?? reason
        case .stream(let source, _): source.close()
        case .file, .omitted: break
        }
        let status = response.status == 401 ? 401 : 409
        return .console(status, ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array("\(reason)\n".utf8)))
    }
}
