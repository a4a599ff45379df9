import Accounts
import Basics
import Catalog
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC
import StoreProtocol
import Webhooks

extension UploadSessions {
    /// Publishes the object if the client's claim matches the stored data. A repetition with the same claim succeeds again.
    ///
    /// - Returns: the object's file id; empty if the object was deleted since.
    func complete(_ uploadID: String, _ claim: CompletionClaim, for caller: UploadCaller) async throws -> String {
        try Self.check(claim)
        let now = clock.now()
        let objectID = identifiers.uuid()
        let owner = caller.owner
        let facts = try await database.write { connection -> ObjectFacts? in
            let records = UploadRecords(connection)
            try connection.together {
                _ = try records.attempt(uploadID)
                _ = try store.object(uploadID: uploadID, in: connection)
            }
            var upload = try Self.owned(records.upload(uploadID), by: owner)
            if let completed = upload.completed {
                try Self.require(claim, completed, upload)
                return try self.facts(of: upload, claim, in: connection)
            }
            guard upload.state == .current, !upload.isSwept else {
                throw RPCError.failedPrecondition("the upload was \(upload.isSwept ? "swept" : "\(upload.state)")")
            }
            guard let object = try store.object(uploadID: upload.id, in: connection) else {
                throw RPCError.failedPrecondition("the object store does not have the upload's object")
            }
            let completed = claim.completed(object)
            try Self.require(claim, completed, upload)
            upload.state = .completed
            upload.completed = completed
            try records.update(upload)
            var listed = CatalogObject(
                id: objectID, fileID: object.fileID, uploadID: upload.id, owner: upload.owner,
                content: CatalogObject.Content(
                    bucket: object.bucket, key: object.key, size: object.size, etag: object.etag),
                times: CatalogObject.Times(
                    createdAt: upload.createdAt, uploadedAt: object.createdAt, verifiedAt: now))
            listed.description = Self.description(of: object, upload, claim)
            try ObjectRecords(connection).insert(listed, logicalID: upload.logicalID, tags: claim.tags)
            try audit(caller, upload, at: now, in: connection)
            try outbox.record(
                .objectVerified(listed, of: upload, tags: claim.tags, traceparent: caller.traceparent), at: now,
                in: connection)
            try store.dropOtherMultiparts(uploadID: upload.id, in: connection)
            if listed.isRecording { connection.afterCommit { newRecordings.notify() } }
            return ObjectFacts(listed, object, upload, tags: claim.tags)
        }
        guard let facts else { return "" }
        try await describe(try await detectType(facts))
        return facts.fileID
    }

    /// Detects the content type from the first bytes if neither the client nor the name determines it. They are read after the
    /// object was published, because a transaction must not wait for a disk.
    private func detectType(_ facts: ObjectFacts) async throws -> ObjectFacts {
        guard facts.description.contentType == ContentType.unknown,
            let type = ContentType.byContent(await store.firstBytes(ContentType.headLength, of: facts.fileID))
        else { return facts }
        try await database.write { try ObjectRecords($0).setContentType(type, ofFile: facts.fileID) }
        var facts = facts
        facts.detectedContentType = type
        return facts
    }

    private static func description(
        of object: StoredObject, _ upload: UploadRecord, _ claim: CompletionClaim
    ) -> CatalogObject.Description {
        let hints = upload.hints
        let name = ObjectNaming.name(
            hint: hints.fileName, tags: claim.tags, owner: upload.owner, createdAt: upload.createdAt)
        return CatalogObject.Description(
            name: name, relativePath: hints.relativePath,
            contentType: ContentType.detect(declared: object.contentType, fileName: name),
            crc64: object.crc64, recordedFrom: hints.recordedFrom, recordedTo: hints.recordedTo)
    }

    /// Returns the facts of an upload that was completed before with the same tags, because a crash may have prevented that they
    /// were written.
    private func facts(
        of upload: UploadRecord, _ claim: CompletionClaim, in connection: ReadConnection
    ) throws -> ObjectFacts? {
        guard let stored = try store.object(uploadID: upload.id, in: connection),
            let listed = try ObjectRecords(connection).object(uploadID: upload.id)
        else { return nil }
        return ObjectFacts(listed, stored, upload, tags: claim.tags)
    }

    /// Writes the facts before the response, so that an acknowledged object can be listed again beside an older database.
    private func describe(_ facts: ObjectFacts) async throws {
        do {
            try await store.describe(facts.fileID, facts.encoded)
        } catch let error as ObjectStore.Unwritable {
            throw RPCError(
                .overloaded, "the object store cannot write now: try again later", retryAfterMilliseconds: 30_000
            )
            .caused(by: error)
        }
    }

    private static func require(
        _ claim: CompletionClaim, _ object: CompletedObject, _ upload: UploadRecord
    ) throws(RPCError) {
        if let difference = claim.disagreement(with: object, issuedPartSize: upload.location.partSize) {
            throw .failedPrecondition(difference)
        }
    }

    /// Checks the claim. The limits of tags apply to all of them together: those of the device, of the user, and with the file's
    /// name.
    private static func check(_ claim: CompletionClaim) throws(RPCError) {
        guard claim.size >= 0 else { throw .invalidArgument("file_size must be at least 0") }
        guard claim.partCount >= 0 else { throw .invalidArgument("completed_part_count must be at least 0") }
        guard claim.partSize >= 0 else { throw .invalidArgument("part_size_bytes must be at least 0") }
        try TagRules.check(claim.tags, field: "raw_tags", maximum: TagRules.maximumOfObject)
    }
}

/// The client's description of the object that it stored.
struct CompletionClaim: Sendable {
    /// The size in bytes.
    let size: Int64
    /// Compared without regard to quotes and letter case.
    let etag: String
    let partCount: Int32
    /// The size of a part in bytes; 0 if the client does not know it.
    let partSize: Int64
    let tags: [String: String]

    var tagsDigest: [UInt8] { Self.digest(of: tags) }

    /// Returns a digest that does not depend on the order of the tags.
    static func digest(of tags: [String: String]) -> [UInt8] {
        let digest = IncrementalDigest(.sha256)
        for (key, value) in tags.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            // Tags contain no control characters, so NUL is an unambiguous terminator.
            Array("\(key)\u{0}\(value)\u{0}".utf8).withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize()
    }

    /// Combines the store's own measurements with the client's tags.
    func completed(_ object: StoredObject) -> CompletedObject {
        CompletedObject(size: object.size, etag: object.etag, partCount: object.partCount, tagsDigest: tagsDigest)
    }

    /// Returns the first difference between the claim and the stored object; `nil` if they agree.
    ///
    /// - Parameter issuedPartSize: the part size that was issued with the upload's credentials.
    func disagreement(with object: CompletedObject, issuedPartSize: Int64) -> String? {
        if size != object.size { return "file_size is \(size), but \(object.size) bytes are stored" }
        if !ETag.matches(etag, object.etag) {
            return "oss_object_etag must be the stored object's ETag, \(object.etag)"
        }
        // An object from a single PUT may be claimed with one part or none.
        let isPartCount = object.partCount == 0 ? (0...1).contains(partCount) : Int(partCount) == object.partCount
        if !isPartCount { return "completed_part_count is \(partCount), but \(object.partCount) parts are stored" }
        if partSize != 0 && partSize != issuedPartSize {
            return "part_size_bytes is \(partSize), but \(issuedPartSize) was issued"
        }
        return tagsDigest == object.tagsDigest ? nil : "raw_tags differ from the tags of the completed upload"
    }
}
