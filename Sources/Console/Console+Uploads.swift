import Basics
import HTTPTypes
import Proto

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
