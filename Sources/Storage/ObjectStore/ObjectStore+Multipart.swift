import Basics
import Crypto
import Database
import StoreProtocol

/// Multipart uploads as a whole; their parts are ``PartUpload``'s.
extension ObjectStore {
    /// Multipart uploads of one upload that may be open at a time. A client has one under way; after an interruption some
    /// begin another and forget the one before.
    static let maximumOpen = 16
    /// The same at one key of a static key's; any number of an operator's tools may write there.
    static let maximumOpenDirect = 1000
    /// Surplus ones that the beginning of another ends: where an older version let thousands be open, they go bit by bit.
    static let maximumEvicted = 16

    /// Each call begins another one, with a file of its own. Where that is one too many, others end: they were given up, and
    /// a refusal would leave their client without a way on. Whoever still sends a part of one hears NoSuchUpload.
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
                try permit.own(in: connection)
                try permit.admit(bytes: 1, in: connection)
                try permit.check(header.condition, in: connection)
                try makeRoom(claims.uploadID, in: connection)
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

    private func makeRoom(_ uploadID: String, in connection: Connection) throws {
        let records = StoreRecords(connection)
        let surplus = try records.surplusMultiparts(
            uploadID: uploadID,
            maximum: DirectObject.isOne(uploadID: uploadID) ? Self.maximumOpenDirect : Self.maximumOpen,
            limit: Self.maximumEvicted)
        var rows = Discards.inline
        for id in surplus {
            let discarded = try records.discard(.one(id: id, uploadID: uploadID), limit: rows)
            rows = max(0, rows - discarded.rows)
            try discards.finish(discarded, in: connection)
        }
    }

    /// A multipart upload of this object that has not been completed.
    package func openMultipart(_ id: String, _ claims: CredentialClaims) throws -> MultipartRecord {
        let found = try database.readBlocking { try StoreRecords($0).multipart(id) }
        guard let found, found.isOpen, found.belongs(to: claims) else { throw ObjectStoreError.noSuchUpload }
        return found
    }

    /// One page of parts; also of an upload that was completed, while its object lives.
    package func listParts(
        _ id: String, _ claims: CredentialClaims, after marker: Int, limit: Int
    ) throws -> (parts: [PartRecord], isTruncated: Bool) {
        try database.readBlocking { connection in
            let records = StoreRecords(connection)
            guard let multipart = try records.multipart(id), !multipart.isLost, multipart.belongs(to: claims) else {
                throw ObjectStoreError.noSuchUpload
            }
            let parts = try records.parts(of: id, after: marker, limit: limit + 1)
            return (Array(parts.prefix(limit)), parts.count > limit)
        }
    }

    /// Makes the object of its parts: no byte is moved but those of parts that were sent again. Repeating it, also at
    /// the same time, gives the same object.
    ///
    /// The order: parts in place, `ftruncate`, `fdatasync`, one commit.
    ///
    /// - Parameter expected: what the client says that the whole is.
    package func completeMultipart(
        _ id: String, _ list: CompletionList?, _ permit: WritePermit, etags: ETag.Form,
        expected: ExpectedObject = ExpectedObject()
    ) throws -> StoredObject {
        // A Complete that cannot succeed must not take the place of parts that are being sent.
        if let done = try plan(id, list, permit.claims).done { return done }
        return try writes.exclusively(id) {
            let (multipart, plan, done) = try plan(id, list, permit.claims)
            guard let plan else {
                guard let done else { throw ObjectStoreError.noSuchUpload }
                return done
            }
            let checksum = plan.checksum(multipart.checksum)
            try expected.verify(size: plan.size, checksum)
            let condition = multipart.condition(and: expected.condition)
            if !condition.isNone { try database.readBlocking { try permit.check(condition, in: $0) } }
            try dropUnlistedParts(of: multipart, plan, permit)
            try engine.complete(
                multipart.fileID,
                plan.parts.map { EnginePart(number: $0.number, size: $0.size, fileID: $0.fileID) })
            let object = StoredObject(
                bucket: multipart.bucket, key: multipart.key, uploadID: multipart.uploadID, size: plan.size,
                etag: plan.etag(etags), partCount: plan.parts.count, crc64: plan.crc64, createdAt: clock.now(),
                fileID: multipart.fileID, multipartID: id, contentType: multipart.contentType,
                checksum: checksum, kept: multipart.kept)
            try database.writeBlocking(for: permit.owner) { [discards] connection in
                try permit.confirm(in: connection)
                try permit.check(condition, in: connection)
                try permit.own(in: connection)
                try permit.record(in: connection)
                let records = StoreRecords(connection)
                guard let multipart = try records.multipart(id), multipart.isOpen else {
                    throw ObjectStoreError.noSuchUpload
                }
                try records.markCompleted(id)
                try discards.finish(records.replaceObject(with: object), in: connection)
                try discards.finish(records.releaseFiles(ofPartsOf: id, limit: Discards.inline), in: connection)
            }
            engine.seal(multipart.fileID)
            return object
        }
    }

    /// The object that a multipart upload was completed to; nil while it is open.
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
            try database.writeBlocking(for: claims.subject.workOwner, mayUseReserve: true) { [discards] connection in
                let records = StoreRecords(connection)
                // Completed in the meantime: the client that sends this may only have lost the answer.
                guard let multipart = try records.multipart(id), multipart.isOpen else {
                    throw ObjectStoreError.noSuchUpload
                }
                let discarded = try records.discard(
                    .one(id: id, uploadID: multipart.uploadID), limit: Discards.inline)
                try discards.finish(discarded, in: connection)
            }
        }
    }

    /// What Complete would do; `done` where it was done before.
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

    /// `ftruncate` cuts off what stands behind the listed parts. Their rows go first: should the last commit fail, no row
    /// may speak of bytes that are gone.
    private func dropUnlistedParts(
        of multipart: MultipartRecord, _ plan: CompletionPlan, _ permit: WritePermit
    ) throws {
        for start in stride(from: 0, to: plan.unlisted.count, by: Discards.batch) {
            let some = plan.unlisted[start..<min(start + Discards.batch, plan.unlisted.count)]
            try database.writeBlocking(for: permit.owner) { [removals] connection in
                let records = StoreRecords(connection)
                for part in some { try records.deletePart(part.number, of: multipart.id) }
                try removals.schedule(some.compactMap(\.fileID), in: connection)
            }
        }
    }
}

extension MultipartRecord {
    /// What its Complete says, and what was said when it began.
    fileprivate func condition(and other: WriteCondition) -> WriteCondition {
        forbidsOverwrite ? other.and(.forbidOverwrite) : other
    }

    func belongs(to claims: CredentialClaims) -> Bool {
        uploadID == claims.uploadID && bucket == claims.bucket && key == claims.key
    }
}
