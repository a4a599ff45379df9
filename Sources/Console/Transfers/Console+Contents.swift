import Basics
import Crypto
import HTTPTypes
import Proto

/// Objects for previews. They come from the console's own origin, so a page needs no permission for another one; the object store
/// serves them in ranges as it does by a presigned URL.
extension Console {
    /// The validity of an address in seconds, and of the object store's permission behind it.
    private static let (grantSeconds, accessSeconds): (Int64, Int64) = (12 * 3600, 900)
    /// The time before the end of a permission at which it is renewed.
    private static let margin: Int64 = 60

    /// Returns an address from which the browser can read the object while the session lasts.
    func openContent(_ request: ContentRequest, in session: Session, for head: HTTPRequestHead) -> HTTPResponse {
        switch grant(request.fileId, in: head.fields["x-organization"], session, head) {
        case .refused(let response): return response
        case .answered(let grant):
            return reporting {
                let content = SealedContent(
                    fileID: request.fileId, organization: head.fields["x-organization"],
                    until: clock.now().adding(seconds: Self.grantSeconds))
                let address = try sessions.address(of: content, in: session)
                session.keep(grant, for: address)
                return .console(json: DownloadOffer(path: "\(Self.root)contents\(DownloadOffer.query)\(address)"))
            } failure: {
                .refusal($0)
            }
        }
    }

    private func grant(
        _ fileID: String, in organization: String?, _ session: Session, _ head: HTTPRequestHead
    ) -> CallOutcome<ContentGrant> {
        let now = clock.now()
        switch accessToken(of: session, for: head) {
        case .refused(let response): return .refused(response)
        case .answered(let token):
            switch calls.presign(fileID, seconds: Self.accessSeconds, token, for: head, in: organization) {
            case .refused(let response): return .refused(response)
            case .answered(let access):
                return .answered(
                    ContentGrant(access: access, renewAt: now.adding(seconds: Self.accessSeconds - Self.margin)))
            }
        }
    }

    func content(_ head: HTTPRequestHead) -> HTTPDisposition {
        let now = clock.now()
        let session: Session
        switch self.session(ofElement: head, at: now) {
        case .refused(let response): return .respond(response)
        case .answered(let found): session = found
        }
        guard let address = head.ticket, let content = sessions.content(address, in: session, at: now) else {
            return .refuse(.ticket)
        }
        let granted: ContentGrant
        if let kept = session.grant(for: address, at: now) {
            granted = kept
        } else {
            switch grant(content.fileID, in: content.organization, session, head) {
            case .refused(let response): return .respond(response)
            case .answered(let renewed): granted = renewed
            }
            session.keep(granted, for: address)
        }
        var fields: HTTPFields = ["host": granted.access.host]
        if let range = head.fields["range"] { fields.append("range", range) }
        let request = HTTPRequestHead(
            method: head.method, target: granted.access.target, fields: fields, framing: .none, origin: head.origin)
        guard case .respond(let response) = store.begin(request) else { return .refuse(.failure) }
        return .respond(Self.shown(response))
    }

    /// Returns the object store's response without what the uploader chose: its type can only be one that shows no scripts.
    private static func shown(_ response: HTTPResponse) -> HTTPResponse {
        guard response.status == 200 || response.status == 206 || response.status == 416 else {
            return .refusal(response.status >= 500 ? .failure : .content)
        }
        var fields: HTTPFields = [
            "Content-Type": ShownType.shown(response.fields["content-type"] ?? ""), "Accept-Ranges": "bytes",
            "Content-Disposition": "inline",
        ]
        if let range = response.fields["content-range"] { fields.append("Content-Range", range) }
        return .console(response.status, fields, body: response.status == 416 ? .bytes([]) : response.body)
    }
}

/// The permission to read an object.
struct ContentGrant: Sendable {
    /// The presigned request to the object store, and the time at which it has to be renewed.
    let access: StoreAddress
    let renewAt: UnixTime
}

/// The types under which the console shows an object, whatever its uploader declared: none of them can run scripts.
enum ShownType {
    private static let safe: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "video/mp4", "video/webm",
        "video/ogg", "video/quicktime", "audio/mpeg", "audio/ogg", "audio/wav", "audio/x-wav", "audio/flac",
        "audio/mp4", "audio/aac", "audio/webm", "application/pdf",
    ]

    static func shown(_ declared: String) -> String {
        let type = declared.prefix { $0 != ";" && $0 != " " }.lowercased()
        return safe.contains(type) ? type : "application/octet-stream"
    }
}
