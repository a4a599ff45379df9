import Basics
import Crypto
import HTTPTypes
import Proto
import StoreProtocol

/// The temporary credentials with which the console stores an upload's bytes for a session. They do not leave the gateway.
struct UploadGrant: Sendable {
    /// The time before the end of the credentials at which they are renewed, in seconds.
    private static let margin: Int64 = 60

    let uploadID: String
    private let object: StoreObject
    private let credentials: SigningCredentials
    private let expiresAt: UnixTime

    /// - Returns: `nil` if the issued endpoint cannot be used.
    init?(uploadID: String, _ issued: UploadCredentials) {
        guard let endpoint = try? StoreEndpoint(issued.endpoint) else { return nil }
        self.uploadID = uploadID
        object = StoreObject(
            endpoint: endpoint, region: issued.objectStoreRegion, bucket: issued.bucket, key: issued.objectKey)
        credentials = SigningCredentials(
            accessKeyID: issued.stsAccessKeyID, secret: Secret(issued.stsAccessKeySecret),
            securityToken: issued.stsSecurityToken)
        expiresAt = UnixTime(seconds: issued.stsExpireAtUnix)
    }

    func isUsable(at now: UnixTime) -> Bool { now.adding(seconds: Self.margin) < expiresAt }

    /// Returns the browser's request as a signed request to the object store.
    func signed(_ request: UploadRequest, _ head: HTTPRequestHead, at now: UnixTime) -> HTTPRequestHead? {
        var fields: HTTPFields = [:]
        if let type = head.fields["content-type"] { fields.append("Content-Type", type) }
        if request.completesAll { fields.append("x-oss-complete-all", "yes") }
        let signed = ClientRequest(
            request.method, object, query: request.query, fields: fields, credentials: credentials, now: now)
        guard let signed, let address = StoreAddress(url: signed.url) else { return nil }
        var sent = signed.fields
        sent.append("host", address.host)
        if let length = head.fields["content-length"] { sent.append("content-length", length) }
        return HTTPRequestHead(
            method: signed.method, target: address.target, fields: sent, framing: head.framing, origin: head.origin)
    }
}
