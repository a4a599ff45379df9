import Basics
import Crypto
import Database
package import StoreProtocol

/// Operations on whole multipart uploads; those on their parts are ``PartUpload``'s.
extension ObjectStore {
    /// The number of multipart uploads of one upload that may be open. A client uses one; after an interruption some clients begin
    /// another and forget the previous one.
    static let maximumOpen = 16
    /// The same at one key of a static key; any number of an operator's tools may write there.
    static let maximumOpenDirect = 1000
    /// The number of surplus ones that a new one ends, so that thousands left by an older version are ended step by step.
    static let maximumEvicted = 16
    /// The number of times that Complete reads the parts if other processes change them meanwhile.
    private static let completionAttempts = 4

    /// Begins another multipart upload with a file of its own. If there are too many, abandoned ones end, because a refusal would
    /// leave the client stuck. Clients that still send a part of one get NoSuchUpload.
    package func initiateMultipart(
        _ permit: WritePermit, _ header: ObjectHeader = ObjectHeader(), checksum: MultipartChecksum?
    ) throws -> MultipartRecord {
        try space.requireForNewUpload()
        let new = try engine.createMultipart()
        let claims = permit.claims
        let id = Hex.upper(Random.bytes(16))
        let (fileID, now) = (new.id, clock.now())
        let multipart = try new.commit {
            try database.writeBlocking(for: permit.owner) { [self] connection in
                try engine.record(fileID, nil, in: connection)
                try permit.own(in: connection)
                try permit.admit(bytes: 1, in: connection)
                try permit.check(header.condition, in: connection)
                try endSurplusMultiparts(claims.uploadID, in: connection)
                let multipart = MultipartRecord(
                    id: id, uploadID: claims.uploadID, bucket: claims.bucket, key: claims.key, fileID: fileID,
                    partSize: try permit.confirm(in: connection), contentType: header.contentType,
                    createdAt: now, isCompleted: false, isLost: false, checksum: checksum, kept: header.kept,
                    forbidsOverwrite: header.condition.forbidsOverwrite)
                try StoreRecords(connection).insert(multipart)
                return multipart
            }
        }
        engine.keep(fileID)
        return multipart
    }

    private func endSurplusMultiparts(_ uploadID: String, in connection: Connection) throws {
        let records = StoreRecords(connection)
        let surplus = try records.surplusMultiparts(
            uploadID: uploadID,
            maximum: DirectObject.isDirect(uploadID: uploadID) ? Self.maximumOpenDirect : Self.maximumOpen,
            limit: Self.maximumEvicted)
        var rows = Discards.inline
        for id in surplus {
            let discarded = try records.discard(.one(id: id, uploadID: uploadID), limit: rows)
            rows = max(0, rows - discarded.rows)
            try work.discards.finish(discarded, in: connection)
        }
    }

    /// Returns a multipart upload of this object that has not been completed.
    package func openMultipart(_ id: String, _ claims: CredentialClaims) throws -> MultipartRecord {
        let found = try database.readBlocking { try StoreRecords($0).multipart(id) }
        guard let found, found.isOpen, found.belongs(to: claims) else { throw ObjectStoreError.noSuchUpload }
        return found
    }

    /// Returns one page of parts, also for a completed upload as long as its object exists. No further page follows one that was
    /// limited to nothing.
    package func listParts(
        _ id: String, _ claims: CredentialClaims, after marker: Int, limit: Int
    ) throws -> PartList {
        try database.readBlocking { connection in
            let records = StoreRecords(connection)
            guard let multipart = try records.multipart(id), !multipart.isLost, multipart.belongs(to: claims) else {
                throw ObjectStoreError.noSuchUpload
            }
            let parts = try records.parts(of: id, after: marker, limit: limit + 1)
            return PartList(
                parts: Array(parts.prefix(limit)), isTruncated: limit > 0 && parts.count > limit,
                checksum: multipart.checksum)
        }
    }

    /// Makes the object from its parts; only the bytes of repeated parts are moved. Repeating it, also concurrently, gives the same
    /// object.
    ///
    /// The order: parts in place, `ftruncate`, `fdatasync`, one commit, which compares the parts with those that were read: another
    /// process may have stored some meanwhile.
    ///
    /// - Parameter expected: the client's description of the whole object.
    /// - Throws: ``WritesInFlight/Revoked`` if other processes replace parts all the time.
    package func completeMultipart(
        _ id: String, _ list: CompletionList?, _ permit: WritePermit, etags: ETag.Form,
        expected: ExpectedObject = ExpectedObject()
    ) throws -> StoredObject {
        let completion = Completion(
            id: id, list: list, permit: permit, etags: etags, expected: expected, base: try base(of: permit.claims))
        // A Complete that cannot succeed must not take the places of parts that are being sent.
        if let done = try plan(id, list, permit.claims).done { return done }
        return try writes.exclusively(id) {
            for _ in 0..<Self.completionAttempts {
                if let object = try attempt(completion) { return object }
            }
            throw WritesInFlight.Revoked()
        }
    }

    /// Makes the object from the parts of now.
    ///
    /// - Returns: `nil` if another process changed the upload meanwhile.
    private func attempt(_ completion: Completion) throws -> StoredObject? {
        let permit = completion.permit
        let (multipart, plan, done) = try plan(completion.id, completion.list, permit.claims)
        guard let plan else {
            guard let done else { throw ObjectStoreError.noSuchUpload }
            return done
        }
        let checksum = plan.checksum(multipart.checksum)
        try completion.expected.verify(size: plan.size, checksum)
        let condition = multipart.condition(and: completion.expected.condition)
        if !condition.isNone { try database.readBlocking { try permit.check(condition, in: $0) } }
        guard try dropUnlistedParts(of: multipart, plan, permit) else { return nil }
        try engine.complete(multipart.fileID, plan.parts.map(\.enginePart))
        let object = StoredObject(
            StoredObject.Place(bucket: multipart.bucket, key: multipart.key, uploadID: multipart.uploadID),
            StoredObject.Content(
                size: plan.size, etag: plan.etag(completion.etags), crc64: plan.crc64, crc32: plan.crc32,
                checksum: checksum, origin: StoredObject.Multipart(id: multipart.id, partCount: plan.parts.count)),
            fileID: multipart.fileID, createdAt: clock.now(), contentType: multipart.contentType,
            kept: multipart.kept)
        let isCompleted = try database.writeBlocking(for: permit.owner) {
            [base = completion.base, versions = plan.versions, discards = work.discards] connection in
            try permit.confirm(in: connection)
            try permit.check(condition, in: connection)
            let records = StoreRecords(connection)
            guard try records.hasParts(versions, of: multipart.id) else { return false }
            try permit.own(in: connection)
            try permit.record(in: connection)
            try records.markCompleted(multipart.id)
            try discards.finish(records.replaceObject(with: object, from: base), in: connection)
            try discards.finish(records.releaseFiles(ofPartsOf: multipart.id, limit: Discards.inline), in: connection)
            return true
        }
        guard isCompleted else { return nil }
        engine.seal(multipart.fileID)
        return object
    }

    /// Returns the object of a completed multipart upload; `nil` while it is open.
    package func completed(_ id: String, _ claims: CredentialClaims) throws -> StoredObject? {
        try database.readBlocking { connection in
            let records = StoreRecords(connection)
            guard let multipart = try records.multipart(id), !multipart.isLost, multipart.belongs(to: claims) else {
                throw ObjectStoreError.noSuchUpload
            }
            return multipart.isCompleted ? try records.object(uploadID: multipart.uploadID) : nil
        }
    }

    package func abortMultipart(_ id: String, _ claims: CredentialClaims) throws {
        _ = try openMultipart(id, claims)
        try writes.exclusively(id) {
            try database.writeBlocking(for: claims.workOwner, mayUseReserve: true) {
                [discards = work.discards] connection in
                let records = StoreRecords(connection)
                // Completed in the meantime: the client may have lost the response.
                guard let multipart = try records.multipart(id), multipart.isOpen else {
                    throw ObjectStoreError.noSuchUpload
                }
                let discarded = try records.discard(
                    .one(id: id, uploadID: multipart.uploadID), limit: Discards.inline)
                try discards.finish(discarded, in: connection)
            }
        }
    }

    /// Determines the effect of Complete; `done` if it was completed before.
    private func plan(
        _ id: String, _ list: CompletionList?, _ claims: CredentialClaims
    ) throws -> (multipart: MultipartRecord, plan: CompletionPlan?, done: StoredObject?) {
        try database.readBlocking { connection in
            let records = StoreRecords(connection)
            guard let multipart = try records.multipart(id), !multipart.isLost, multipart.belongs(to: claims) else {
                throw ObjectStoreError.noSuchUpload
            }
            if multipart.isCompleted {
                return (multipart, nil, try records.object(uploadID: multipart.uploadID))
            }
            let plan = try CompletionPlan(list, stored: records.parts(of: id), partSize: multipart.partSize)
            return (multipart, plan, nil)
        }
    }

    /// Drops the parts that are not listed: those with places come after the listed ones, and `ftruncate` cuts them off; others have
    /// files of their own. Their rows are removed first: if the last commit fails, no row may refer to missing bytes.
    ///
    /// - Returns: `false` if another process replaced one of them, or ended the upload.
    private func dropUnlistedParts(
        of multipart: MultipartRecord, _ plan: CompletionPlan, _ permit: WritePermit
    ) throws -> Bool {
        for start in stride(from: 0, to: plan.unlisted.count, by: Discards.batch) {
            let some = plan.unlisted[start..<min(start + Discards.batch, plan.unlisted.count)]
            let areDropped = try database.writeBlocking(for: permit.owner) {
                [removals = work.removals, engine] connection in
                let records = StoreRecords(connection)
                guard try records.multipart(multipart.id)?.isOpen == true else { return false }
                let dropped = try some.filter { try records.delete($0, of: multipart.id) }
                let segments = try engine.dropParts(
                    dropped.map(\.number), from: multipart.fileID, in: connection)
                try removals.schedule(dropped.compactMap(\.fileID) + segments, in: connection)
                return dropped.count == some.count
            }
            guard areDropped else { return false }
        }
        return true
    }
}

/// A request to complete a multipart upload.
private struct Completion {
    let id: String
    /// `nil` for all stored parts.
    let list: CompletionList?
    let permit: WritePermit
    let etags: ETag.Form
    /// The client's description of the whole object.
    let expected: ExpectedObject
    /// The version of the object when the request began, see ``StoreRecords/replaceObject(with:from:)``.
    let base: Int64?
}

/// A page of a multipart upload's parts.
package struct PartList {
    package let parts: [PartRecord]
    package let isTruncated: Bool
    /// The checksum that the upload was initiated with.
    package let checksum: MultipartChecksum?
}

extension MultipartRecord {
    /// Combines the condition of the Complete request with that of the Initiate request.
    fileprivate func condition(and other: WriteCondition) -> WriteCondition {
        forbidsOverwrite ? other.and(.forbidOverwrite) : other
    }

    func belongs(to claims: CredentialClaims) -> Bool {
        uploadID == claims.uploadID && bucket == claims.bucket && key == claims.key
    }
}
