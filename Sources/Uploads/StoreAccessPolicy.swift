package import Accounts
package import Basics
import Catalog
package import Database
package import ObjectStore
package import StoreProtocol

/// The current rights of temporary credentials, presigned URLs and static keys, evaluated at every request of the data plane.
package struct StoreAccessPolicy: AccessPolicy {
    private let store: ObjectStore
    private let clock: any WallClock
    private let steady: SteadyClock
    private let configuration: UploadsConfiguration
    /// Records the clocks of devices; `nil` = they are not recorded.
    private let records: DeferredRecords?
    private let sessions: SessionRules
    private let users = UserAccessPolicy()

    /// - Parameters:
    ///   - clock: the clock for the expiry of credentials.
    ///   - steady: the clock for upload sessions.
    ///   - records: records the clocks of devices; `nil` = they are not recorded.
    package init(
        store: ObjectStore, clock: any WallClock, steady: SteadyClock, configuration: UploadsConfiguration,
        records: DeferredRecords? = nil
    ) {
        self.store = store
        self.clock = clock
        self.steady = steady
        self.configuration = configuration
        self.records = records
        sessions = SessionRules(configuration)
    }

    package func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
        switch claims.subject {
        case .user(let userID, let epoch):
            guard claims.operations.contains(.write) else { return try users.decide(claims, in: connection) }
            guard try Accounts.isLive(userID: userID, epoch: epoch, in: connection) else { return .denied }
            return try decision(onUploadByUser: claims.uploadID, in: connection)
        case .apiKey(let id, let epoch):
            let key = APIKeyReference(id: id, epoch: epoch)
            guard try Accounts.isLive(key, at: clock.now(), in: connection) else { return .denied }
            return try decision(onUpload: claims.uploadID, in: connection)
        case .system(let userID, let epoch):
            guard try Accounts.isLive(userID: userID, epoch: epoch, in: connection) else { return .denied }
            return try decision(onAnyObject: claims, in: connection)
        case .certificate: return try decision(onAnyObject: claims, in: connection)
        case .staticKey: return try decision(byStaticKey: claims, in: connection)
        }
    }

    package func readAhead(_ claims: CredentialClaims, in connection: ReadConnection) throws {
        switch claims.subject {
        case .user(let userID, let epoch):
            _ = try Accounts.isLive(userID: userID, epoch: epoch, in: connection)
        case .apiKey(let id, let epoch):
            _ = try Accounts.isLive(APIKeyReference(id: id, epoch: epoch), at: clock.now(), in: connection)
        case .system, .certificate, .staticKey: return
        }
        _ = try UploadRecords(connection).attempt(claims.uploadID)
    }

    /// Static keys may only read uploaded objects, and only listed ones; they may overwrite objects that were put directly. Keys
    /// that future uploads may use are reserved.
    private func decision(byStaticKey claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision
    {
        if DirectObject.isDirect(uploadID: claims.uploadID) {
            return ObjectKey.isOfUpload(claims.key)
                ? .readOnly(needsActivity: false) : .allowed(partSize: 0, needsActivity: false)
        }
        return try ObjectRecords(connection).listsObject(uploadID: claims.uploadID)
            ? .readOnly(needsActivity: false) : .noSuchUpload
    }

    /// A finished object may be read and never overwritten; without an object, the upload's state decides about its key.
    private func decision(onAnyObject claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision
    {
        if let object = try store.object(bucket: claims.bucket, key: claims.key, in: connection) {
            let listed = try ObjectRecords(connection).object(uploadID: object.uploadID)
            return object.uploadID == claims.uploadID && listed?.isBad != true && !object.isBad
                ? .readOnly(needsActivity: false) : .noSuchUpload
        }
        if DirectObject.isDirect(uploadID: claims.uploadID) {
            return .allowed(partSize: configuration.partSize, needsActivity: false)
        }
        return try decision(onUpload: claims.uploadID, in: connection)
    }

    /// A user's upload for a site ends like those of the site's keys when the site is disabled.
    private func decision(onUploadByUser id: String, in connection: ReadConnection) throws -> AccessDecision {
        guard let owner = try UploadRecords(connection).upload(id)?.owner else { return .noSuchUpload }
        let isEnabled = try Accounts.isSiteEnabled(
            owner.siteID, organizationID: owner.organizationID, in: connection)
        return isEnabled == true ? try decision(onUpload: id, in: connection) : .denied
    }

    private func decision(onUpload id: String, in connection: ReadConnection) throws -> AccessDecision {
        let now = steady.now()
        guard let upload = try UploadRecords(connection).upload(id) else { return .noSuchUpload }
        switch upload.state {
        case .superseded, .aborted: return .noSuchUpload
        case .completed:
            let holdsObject = try ObjectRecords(connection).holdsObject(uploadID: upload.id)
            return holdsObject ? .readOnly(needsActivity: false) : .noSuchUpload
        case .current where upload.isSwept: return .noSuchUpload
        case .current where upload.sessionEndsAt <= now:
            // An object of parts still waits for its CompleteUpload; everything else has to start over.
            let object = try store.object(uploadID: upload.id, in: connection)
            return object?.isMultipart == true ? .readOnly(needsActivity: false) : .noSuchUpload
        case .current:
            return .allowed(
                partSize: upload.location.partSize,
                needsActivity: !upload.isTouched || sessions.slide(upload, at: now) != nil)
        }
    }

    package func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? {
        if case .staticKey(let id) = claims.subject {
            guard let quota = store.staticKey(id: id)?.quota, quota > 0,
                try store.usage(ofKey: id, in: connection) + bytes > quota
            else { return nil }
            return "the static key \(id) may have at most \(quota) stored bytes (quota_bytes)"
        }
        // An upload that was begun within the limits on numbers may be finished when they are lowered.
        let quota = configuration.quota.value.ofBytes
        guard quota.limitsBytes, let upload = try UploadRecords(connection).upload(claims.uploadID) else { return nil }
        return try quota.excess(of: upload.owner, in: connection) { $0.bytes += bytes }
    }

    package func noteClock(of claims: CredentialClaims, signedAt: UnixTime) {
        guard let records, case .apiKey(let id, _) = claims.subject else { return }
        let now = clock.now()
        records.noteClock(ofKey: id, offset: signedAt.seconds - now.seconds, at: now)
    }

    package func tags(uploadID: String, in connection: ReadConnection) throws -> [String: String]? {
        try ObjectRecords(connection).tags(uploadID: uploadID)
    }

    package func record(_ change: StaticKeyChange, in transaction: Connection) throws {
        var entry = AuditEntry(
            actor: "static_key:\(change.keyID)", organization: try organization(ofKey: change.keyID, in: transaction),
            action: change.operation, target: "\(change.bucket)/\(change.names.first ?? "")", peer: change.peer)
        entry.ids = change.ids
        if change.names.count > 1 {
            entry.target = change.bucket
            entry.count = change.names.count
        }
        try Audit.record(entry, at: clock.now(), in: transaction)
    }

    package func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) throws {
        var entry = AuditEntry.byGateway("DeleteExpiredObjects", on: "static_key:\(id)", count: count)
        entry.organization = try organization(ofKey: id, in: transaction)
        try Audit.record(entry, at: clock.now(), in: transaction)
    }

    private func organization(ofKey id: String, in connection: ReadConnection) throws -> OrganizationReference? {
        guard let name = store.staticKey(id: id)?.organization else { return nil }
        return try Accounts.organization(named: name, in: connection)
    }

    package func recordActivity(uploadID: String, in transaction: Connection) throws {
        let now = steady.now()
        let records = UploadRecords(transaction)
        guard var upload = try records.upload(uploadID), upload.state == .current, now < upload.sessionEndsAt else {
            return
        }
        upload.isTouched = true
        upload.sessionEndsAt = sessions.slide(upload, at: now) ?? upload.sessionEndsAt
        try records.update(upload)
    }
}

/// The names of objects in the store.
package enum ObjectKey {
    private static let prefix = "uploads/"

    /// Whether the key belongs, or will belong, to an upload.
    package static func isOfUpload(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// Returns the upload for which the key was issued, whatever its state; `nil` for keys of other objects.
    package static func uploadID(bucket: String, key: String, in connection: ReadConnection) throws -> String? {
        guard let last = key.split(separator: "/", omittingEmptySubsequences: false).last,
            let upload = try UploadRecords(connection).upload(String(last)),
            upload.location.bucket == bucket, upload.location.key == key
        else { return nil }
        return upload.id
    }

    /// Returns `uploads/<yyyy>/<mm>/<dd>/<upload id>`, with the day in UTC.
    static func of(uploadID: String, at time: UnixTime) -> String {
        "\(prefix)\(CivilTime(time).date(separator: "/"))/\(uploadID)"
    }
}
