import Accounts
import Basics
import Catalog
import Database
import GatewayAPI
import RPC

extension UploadSessions {
    /// A new logical upload with its first attempt; the one that there is where `key` was used before.
    func begin(for caller: KeyCaller, key: IdempotencyKey?, hints: UploadHints = .none) async throws -> Issued {
        let owner = ObjectOwner(caller.owner)
        try rate?.admit(owner)
        // Refused before the client has sent a byte; uploads under way go on.
        let hasRoom = store.hasRoomForNewUpload
        guard hasRoom || key != nil else { throw Self.noRoom }
        let now = clock.now()
        let upload = newUpload(
            identifiers.uuid(), of: identifiers.uuid(), owner: owner, hints: hints, isRestart: false, at: now)
        let made = try await database.write { connection in
            if let known = try known(by: key, of: owner, restartFrom: "", at: now, in: connection) { return known }
            guard hasRoom else { throw Self.noRoom }
            // A restart takes the place of an upload that was counted already.
            let excess = try configuration.quota.excess(of: owner, in: connection) {
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

    /// Puts a new attempt in the place of the one in force, which `uploadID` names or once was.
    func restart(from uploadID: String, for caller: KeyCaller, key: IdempotencyKey?) async throws -> Issued {
        let owner = ObjectOwner(caller.owner)
        try rate?.admit(owner)
        let (id, now) = (identifiers.uuid(), clock.now())
        // Its rows, and all that it sends once more, need room like a new upload's.
        let hasRoom = store.hasRoomForNewUpload
        let upload = try await database.write { connection in
            if let known = try known(by: key, of: owner, restartFrom: uploadID, at: now, in: connection) {
                return known
            }
            let records = UploadRecords(connection)
            var former = try Self.owned(records.inForce(forUpload: uploadID), by: owner)
            guard former.state == .current else {
                throw RPCError.failedPrecondition("the upload was \(former.state) and cannot be restarted")
            }
            guard hasRoom else { throw Self.noRoom }
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

    /// The upload that an earlier call with the key made. Asked in the transaction that would make another, so that of
    /// any number of calls at once one makes it.
    ///
    /// - Throws: INVALID_ARGUMENT where that call asked for something else, UPLOAD_NOT_REFRESHABLE where the upload can
    ///   be sent no more.
    private func known(
        by key: IdempotencyKey?, of owner: ObjectOwner, restartFrom: String, at now: UnixTime, in connection: Connection
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

    private static var noRoom: RPCError {
        RPCError(
            .stsUnavailable, "the object store has no space for new uploads: try again later",
            retryAfterMilliseconds: 30_000)
    }
}
