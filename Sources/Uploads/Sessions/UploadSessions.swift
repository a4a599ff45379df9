import Accounts
import Basics
import Catalog
import Crypto
import Database
import GatewayAPI
import GatewayProto
import ObjectStore
import RPC
import StoreProtocol
import Webhooks

/// The rules of uploads: recovery, reissue and abort. (`UploadSessions+Create.swift`: create and restart;
/// `UploadSessions+Complete.swift`: complete.)
///
/// A change reads what it depends on in its own transaction. Credentials are issued, and files unlinked, after the commit.
struct UploadSessions: Sendable {
    let database: Database
    let store: ObjectStore
    let endpoint: StoreEndpoint
    let clock: any WallClock
    /// The clock for sessions.
    let steady: SteadyClock
    let identifiers: Identifiers
    var configuration: UploadsConfiguration
    var outbox = Outbox.closed
    /// Notified after a recording was added.
    var newRecordings = Signal()
    /// The limit of calls; `nil` = none.
    var rate: CallRate?

    /// An upload with credentials for its object.
    struct Issued: Sendable {
        let upload: UploadRecord
        let credentials: TemporaryCredentials
    }

    struct Recovery: Sendable {
        let upload: UploadRecord
        let decision: RecoveryDecision
        /// The end of its session, by the current wall clock.
        let sessionEndsAt: UnixTime
        /// The object's arguments for CompleteUpload, if that is the decision.
        let object: (etag: String, partCount: Int)?
    }

    /// Returns the next step for a client that was interrupted.
    func recovery(of logicalID: String, for caller: UploadCaller) async throws -> Recovery {
        let (upload, stored) = try await database.read { connection in
            let upload = try Self.owned(
                UploadRecords(connection).inForce(logicalID: logicalID), by: caller.owner)
            return (upload, try store.progress(uploadID: upload.id, in: connection))
        }
        let decision = RecoveryDecision(facts(upload, stored))
        if decision.action == .continue && rules.slide(upload, at: steady.now()) != nil {
            // Prolongs the session of a client that is told to continue.
            try await database.write { try keepAlive(upload.id, in: $0) }
        }
        let object: (String, Int)? =
            switch decision.status {
            case .completed: upload.completed.map { ($0.etag, $0.partCount) }
            case .completing: stored.object.map { ($0.etag, $0.partCount) }
            default: nil
            }
        return Recovery(
            upload: upload, decision: decision, sessionEndsAt: steady.wallTime(of: upload.sessionEndsAt), object: object
        )
    }

    /// Issues new credentials for the same object; for a completed one, to read it.
    func reissue(_ uploadID: String, for caller: UploadCaller) async throws -> Issued {
        let now = clock.now()
        let owner = caller.owner
        try rate?.admit(owner)
        let upload = try await database.write { connection in
            let records = UploadRecords(connection)
            var upload = try Self.owned(records.upload(uploadID), by: owner)
            try checkRefreshable(upload, in: connection)
            upload.refreshCount += 1
            let time = steady.now()
            if time < upload.sessionEndsAt, upload.state == .current {
                upload.sessionEndsAt = rules.slide(upload, at: time) ?? upload.sessionEndsAt
            }
            try records.update(upload)
            try audit(caller, upload, at: now, in: connection)
            return upload
        }
        return issue(upload, for: caller)
    }

    /// Aborts the upload and removes its data. A completed upload stays unchanged.
    ///
    /// - Returns: the current attempt.
    func abort(_ logicalID: String, reason: String, for caller: UploadCaller) async throws -> UploadRecord {
        let owner = caller.owner
        try rate?.admit(owner)
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let records = UploadRecords(connection)
            var upload = try Self.owned(records.inForce(logicalID: logicalID), by: owner)
            guard upload.state == .current else { return upload }
            upload.state = .aborted
            upload.abortReason = AbortReason.clipped(reason)
            try records.update(upload)
            try audit(caller, upload, at: now, in: connection)
            try outbox.record(
                .uploadAborted(upload, traceparent: caller.traceparent), at: now, in: connection)
            try records.insertFailure(
                of: upload,
                UploadEnd(
                    cause: .aborted, actor: caller.did(to: upload.auditName).actor, reason: upload.abortReason ?? "",
                    time: now))
            try outbox.record(
                .uploadFailed(upload, .aborted, traceparent: caller.traceparent), at: now, in: connection)
            try store.discard(uploadID: upload.id, in: connection)
            return upload
        }
    }

    /// - Throws: UPLOAD_NOT_REFRESHABLE if no credentials can be issued for the upload any more.
    func checkRefreshable(_ upload: UploadRecord, in connection: ReadConnection) throws {
        guard upload.state != .superseded else {
            throw RPCError(.uploadNotRefreshable, "the upload was superseded by a restart with another upload id")
        }
        guard try decision(upload, in: connection).canRefreshCredentials else {
            throw RPCError(.uploadNotRefreshable, "the upload was aborted, or its session has ended")
        }
    }

    func decision(_ upload: UploadRecord, in connection: ReadConnection) throws -> RecoveryDecision {
        RecoveryDecision(facts(upload, try store.progress(uploadID: upload.id, in: connection)))
    }

    /// Returns the same rules with another part size for new uploads.
    func issuing(partSize: Int64) -> UploadSessions {
        var sessions = self
        sessions.configuration.partSize = partSize
        return sessions
    }

    private var rules: SessionRules { SessionRules(configuration) }

    /// - Throws: UPLOAD_NOT_FOUND for an upload that does not exist or belongs to another organization, UPLOAD_NOT_OWNED for one of
    ///   another owner in the organization.
    static func owned(_ upload: UploadRecord?, by caller: ObjectOwner) throws(RPCError) -> UploadRecord {
        guard let upload, upload.owner.organizationID == caller.organizationID else {
            throw RPCError(.uploadNotFound, "the upload does not exist")
        }
        guard upload.owner.isSame(as: caller) else {
            throw RPCError(.uploadNotOwned, "the upload belongs to another device or site")
        }
        return upload
    }

    func newUpload(
        _ id: String, of logicalID: String, owner: ObjectOwner, hints: UploadHints, isRestart: Bool, at now: UnixTime
    ) -> UploadRecord {
        let beganAt = steady.now()
        return UploadRecord(
            id: id, logicalID: logicalID, owner: owner,
            location: UploadLocation(
                bucket: configuration.bucket, endpoint: endpoint.text, region: endpoint.region,
                backend: configuration.backend, key: ObjectKey.of(uploadID: id, at: now),
                partSize: configuration.partSize),
            createdAt: now, beganAt: beganAt, isRestart: isRestart, hints: hints, state: .current,
            sessionEndsAt: rules.end(beganAt: beganAt, activeAt: beganAt), isTouched: false, isSwept: false,
            refreshCount: 0)
    }

    func issue(_ upload: UploadRecord, for caller: UploadCaller) -> Issued {
        let claims = CredentialClaims(
            uploadID: upload.id, bucket: upload.location.bucket, key: upload.location.key,
            operations: upload.state == .completed ? .read : [.read, .write],
            expiresAt: clock.now().adding(configuration.credentialLifetime),
            holder: .init(caller.subject, of: caller.owner.organizationID))
        return Issued(upload: upload, credentials: store.issuer.issue(claims))
    }

    /// Writes the audit line for the call's change of the upload.
    func audit(_ caller: UploadCaller, _ upload: UploadRecord, at now: UnixTime, in connection: Connection) throws {
        try Audit.record(caller.did(to: upload.auditName), at: now, in: connection)
    }

    private func keepAlive(_ uploadID: String, in connection: Connection) throws {
        let records = UploadRecords(connection)
        guard var upload = try records.upload(uploadID), upload.state == .current, !upload.isSwept,
            let end = rules.slide(upload, at: steady.now())
        else { return }
        upload.sessionEndsAt = end
        try records.update(upload)
    }

    private func facts(_ upload: UploadRecord, _ stored: StoreProgress) -> UploadFacts {
        UploadFacts(
            isCompleted: upload.state == .completed, isAborted: upload.state == .aborted,
            hasWholeMultipartObject: stored.object?.isMultipart == true,
            isPastItsEnd: upload.isSwept || upload.sessionEndsAt <= steady.now()
                || upload.location.endpoint != endpoint.text,
            isLost: stored.isLost, isRestart: upload.isRestart,
            isTouched: upload.isTouched || stored.object != nil || stored.hasMultipart,
            hasMultipart: stored.hasMultipart, hasPart: stored.hasPart)
    }
}

/// The rules for the end of an upload's session: a time after its last activity, and at most a longer time after its beginning. All
/// times are of the steady clock.
struct SessionRules: Sendable {
    let idle: Duration
    let total: Duration

    func end(beganAt: UnixTime, activeAt: UnixTime) -> UnixTime {
        min(activeAt.adding(idle), beganAt.adding(total))
    }

    /// Returns the new end of the session after activity now; `nil` if it would be later by less than a minute, or than a quarter
    /// of a short `idle`, which is not worth a write.
    func slide(_ upload: UploadRecord, at now: UnixTime) -> UnixTime? {
        let end = end(beganAt: upload.beganAt, activeAt: now)
        let worthwhile = min(Duration.seconds(60), idle / 4 + .seconds(1))
        return end.duration(since: upload.sessionEndsAt) >= worthwhile ? end : nil
    }
}

extension SessionRules {
    init(_ configuration: UploadsConfiguration) {
        self.init(idle: configuration.sessionIdle, total: configuration.sessionTotal)
    }
}
