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

/// A page's request for the bytes of an upload, below `/console/uploads/UPLOAD`.
///
/// | request | operation of the object store |
/// |---|---|
/// | `PUT` | stores the whole object |
/// | `POST …/parts` | begins a multipart upload |
/// | `PUT …/parts/NUMBER?multipart=ID` | stores a part of it |
/// | `POST …/complete?multipart=ID` | makes the object from all of its parts |
struct UploadRequest: Sendable, Equatable {
    static let prefix = "uploads/"

    let uploadID: String
    let method: String
    /// The query of the request to the object store; an empty value stands for a name without one.
    let query: [(name: String, value: String)]
    /// Whether the object is made from all stored parts.
    var completesAll = false

    /// - Returns: `nil` if the console has no such resource.
    ///
    /// - Parameter name: the path after `/console/`, without the query.
    init?(_ name: Substring, _ head: HTTPRequestHead) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        let path = name.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard let uploadID = path.first, Self.isID(uploadID) else { return nil }
        let multipart = head.target.firstRange(of: "?multipart=").map { head.target[$0.upperBound...] }
        switch (head.method, path.dropFirst().first, path.count, multipart) {
        case ("PUT", nil, 1, nil): query = []
        case ("POST", "parts"?, 2, nil): query = [("uploads", "")]
        case ("PUT", "parts"?, 3, let id?):
            guard Self.isID(id), let number = Int(path[2]), (1...10_000).contains(number) else { return nil }
            query = [("partNumber", String(number)), ("uploadId", String(id))]
        case ("POST", "complete"?, 2, let id?):
            guard Self.isID(id) else { return nil }
            query = [("uploadId", String(id))]
            completesAll = true
        default: return nil
        }
        self.uploadID = String(uploadID)
        method = head.method
    }

    /// Whether a text can be the id of an upload or of a multipart upload.
    private static func isID(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D }
    }

    static func == (first: UploadRequest, second: UploadRequest) -> Bool {
        first.uploadID == second.uploadID && first.method == second.method && first.completesAll == second.completesAll
            && first.query.elementsEqual(second.query) { $0 == $1 }
    }
}
