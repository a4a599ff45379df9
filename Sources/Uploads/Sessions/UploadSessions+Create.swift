import Accounts
import Basics
import Catalog
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC

extension UploadSessions {
    /// Begins a new logical upload with its first attempt, or returns the existing one if `key` was used before.
    func begin(for caller: UploadCaller, key: IdempotencyKey?, hints: UploadHints = .none) async throws -> Issued {
        let owner = caller.owner
        try rate?.admit(owner)
        // Refused before the client has sent any data; uploads in progress continue.
        let hasSpace = store.hasSpaceForNewUpload
        guard hasSpace || key != nil else { throw Self.noSpace }
        let now = clock.now()
        let upload = newUpload(
            identifiers.uuid(), of: identifiers.uuid(), owner: owner, hints: hints, isRestart: false, at: now)
        let made = try await database.write { connection in
            if let known = try known(by: key, of: owner, restartFrom: "", at: now, in: connection) { return known }
            guard hasSpace else { throw Self.noSpace }
            // A restart replaces an upload that is already counted.
            let excess = try configuration.quota.value.excess(of: owner, in: connection) {
                $0.uploads += 1
                $0.bytes += 1
            }
            if let excess { throw RPCError.failedPrecondition("the quota does not allow another upload: \(excess)") }
            let records = UploadRecords(connection)
            try records.insertLogicalUpload(of: upload)
            try records.insert(upload)
            if let key { try records.remember(key, restartFrom: "", as: upload) }
            try audit(caller, upload, at: now, in: connection)
            return upload
        }
        return issue(made, for: caller)
    }

    /// Replaces the current attempt by a new one. `uploadID` is the current attempt's id or that of an earlier one.
    func restart(from uploadID: String, for caller: UploadCaller, key: IdempotencyKey?) async throws -> Issued {
        let owner = caller.owner
        try rate?.admit(owner)
        let (id, now) = (identifiers.uuid(), clock.now())
        // A restart needs as much space for its rows and its repeated data as a new upload.
        let hasSpace = store.hasSpaceForNewUpload
        let upload = try await database.write { connection in
            if let known = try known(by: key, of: owner, restartFrom: uploadID, at: now, in: connection) {
                return known
            }
            let records = UploadRecords(connection)
            var former = try Self.owned(records.inForce(forUpload: uploadID), by: owner)
            guard former.state == .current else {
                throw RPCError.failedPrecondition("the upload was \(former.state) and cannot be restarted")
            }
            guard hasSpace else { throw Self.noSpace }
            former.state = .superseded
            try records.update(former)
            let upload = newUpload(
                id, of: former.logicalID, owner: former.owner, hints: former.hints, isRestart: true, at: now)
            try records.insert(upload)
            if let key { try records.remember(key, restartFrom: uploadID, as: upload) }
            try audit(caller, upload, at: now, in: connection)
            try store.discard(uploadID: former.id, in: connection)
            try records.foldSuperseded(logicalID: upload.logicalID)
            return upload
        }
        return issue(upload, for: caller)
    }

    /// Returns the upload that an earlier call with the key created. Called in the transaction that would create another one, so
    /// that only one of any number of simultaneous calls creates it.
    ///
    /// - Throws: INVALID_ARGUMENT if the request of that call was different, UPLOAD_NOT_REFRESHABLE if the upload cannot be
    ///   continued.
    private func known(
        by key: IdempotencyKey?, of owner: ObjectOwner, restartFrom: String, at now: UnixTime,
        in connection: ReadConnection
    ) throws -> UploadRecord? {
        guard let key,
            let use = try UploadRecords(connection).use(of: key, by: owner, since: IdempotencyKey.oldestUse(at: now))
        else { return nil }
        guard use.restartFrom == restartFrom else {
            throw RPCError.invalidArgument(
                "\(IdempotencyKey.field) was already used for another restart_from_upload_id: use a new key for each request"
            )
        }
        try checkRefreshable(use.upload, in: connection)
        return use.upload
    }

    private static var noSpace: RPCError {
        RPCError(
            .stsUnavailable, "the object store has no space for new uploads: try again later",
            retryAfterMilliseconds: 30_000)
    }
}
