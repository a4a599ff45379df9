import Basics
import HTTPTypes
import Proto
import XML

/// Uploads from pages. The bytes come to the console's own origin, so a page needs no permission for another one; the console passes
/// them to the object store with temporary credentials of the user's upload, which stay here.
extension Console {
    func storeBytes(_ request: UploadRequest, in session: Session, for head: HTTPRequestHead) -> HTTPDisposition {
        let now = clock.now()
        let grant: UploadGrant
        switch uploadGrant(request.uploadID, in: session, for: head, at: now) {
        case .refused(let response): return .respond(response)
        case .answered(let found): grant = found
        }
        guard let signed = grant.signed(request, head, at: now) else { return .refuse(.failure) }
        switch store.begin(signed) {
        case .respond(let response): return .respond(StoreReply.response(to: response))
        case .receive(let body): return .receive(StoredBody(body))
        }
    }

    /// Returns the session's credentials for an upload; they are issued again if they end soon.
    private func uploadGrant(
        _ uploadID: String, in session: Session, for head: HTTPRequestHead, at now: UnixTime
    ) -> CallOutcome<UploadGrant> {
        if let grant = session.upload(uploadID, at: now) { return .answered(grant) }
        switch accessToken(of: session, for: head) {
        case .refused(let response): return .refused(response)
        case .answered(let token):
            let request = IssueSiteUploadCredentialsRequest(uploadID: uploadID)
            let outcome = calls.unary(
                UploadManagementServiceMethods.issueSiteUploadCredentials, request, for: head.caller(token)
            ) { (response: IssueSiteUploadCredentialsResponse) in
                response.credentials.flatMap { UploadGrant(uploadID: uploadID, $0) }
            }
            if case .answered(let grant) = outcome { session.admit(grant) }
            return outcome
        }
    }
}

/// The object store's response to a request for an upload's bytes, as the console sends it to its pages.
struct StoreReply: Encodable {
    /// The size of the largest response in bytes.
    private static let longest = 64 << 10

    /// The ETag of what was stored; empty = none.
    let etag: String
    /// The id of the new multipart upload; `nil` = none was begun.
    let multipartId: String?

    static func response(to response: HTTPResponse) -> HTTPResponse {
        let document: XMLElement? =
            switch response.body {
            case .bytes(let bytes): try? XMLElement(parsing: bytes, maximumBytes: longest)
            case .file, .stream, .omitted: nil
            }
        guard (200..<300).contains(response.status) else {
            return .refusal(.passedOn(response.status, document?["Message"] ?? "the object store refused the request"))
        }
        let etag = response.fields["etag"] ?? document?["ETag"] ?? ""
        return .console(json: StoreReply(etag: etag, multipartId: document?["UploadId"]))
    }
}

/// The bytes of an upload that are passed to the object store; its response is returned as the console's.
final class StoredBody: HTTPBodySink {
    private let body: any HTTPBodySink

    init(_ body: any HTTPBodySink) {
        self.body = body
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { body.receive(bytes) }

    var isAnswered: Bool { body.isAnswered }

    var isBulk: Bool { true }

    func finish() -> HTTPResponse { StoreReply.response(to: body.finish()) }

    func abandon() { body.abandon() }
}
