import Accounts
import Catalog
import Database
import ObjectStore
import Platform

/// What temporary credentials and presigned URLs may still do: asked at every request of the data plane.
public struct StoreAccessPolicy: AccessPolicy {
    private let store: ObjectStore
    private let clock: any WallClock
    private let sessions: SessionRules
    private let quota: QuotaConfiguration
    private let users = UserAccessPolicy()

    public init(store: ObjectStore, clock: any WallClock, configuration: UploadConfiguration) {
        self.store = store
        self.clock = clock
        sessions = SessionRules(configuration)
        quota = configuration.quota
    }

    public func decide(_ claims: CredentialClaims, in connection: Connection) throws -> AccessDecision {
        guard case .apiKey(let id, let epoch) = claims.subject else {
            return try users.decide(claims, in: connection)
        }
        let now = clock.now()
        guard try Accounts.isLive(APIKeyReference(id: id, epoch: epoch), at: now, in: connection) else {
            return .denied
        }
        guard let upload = try UploadRecords(connection).upload(claims.uploadID) else { return .noSuchUpload }
        switch upload.state {
        case .superseded, .aborted: return .noSuchUpload
        case .completed:
            let isThere = try ObjectRecords(connection).holdsObject(uploadID: upload.id)
            return isThere ? .readOnly(needsActivity: false) : .noSuchUpload
        case .current where upload.isSwept: return .noSuchUpload
        case .current where upload.sessionEndsAt <= now:
            // An object made of parts still waits for its CompleteUpload; everything else starts over.
            let object = try store.snapshot(uploadID: upload.id, in: connection).object
            return object?.isMultipart == true ? .readOnly(needsActivity: false) : .noSuchUpload
        case .current:
            return .allowed(
                partSize: upload.location.partSize,
                needsActivity: !upload.isTouched || sessions.slide(upload, at: now) != nil)
        }
    }

    public func excess(_ claims: CredentialClaims, bytes: Int64, in connection: Connection) throws -> String? {
        guard let upload = try UploadRecords(connection).upload(claims.uploadID) else { return nil }
        return try quota.excess(of: upload.owner, in: connection) { $0.bytes += bytes }
    }

    public func recordActivity(uploadID: String, at time: UnixTime, in transaction: Connection) throws {
        let records = UploadRecords(transaction)
        guard var upload = try records.upload(uploadID), upload.state == .current, time < upload.sessionEndsAt else {
            return
        }
        upload.isTouched = true
        upload.sessionEndsAt = sessions.slide(upload, at: time) ?? upload.sessionEndsAt
        try records.update(upload)
    }
}
