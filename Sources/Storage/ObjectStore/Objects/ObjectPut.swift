import Basics
import Database
package import StoreProtocol

/// One PUT of a whole object, from its header to its acknowledgement: a new file, `fdatasync`, then the row, which replaces that of
/// an earlier object.
package final class ObjectPut {
    /// The largest body that clients send with the header of its request, in bytes: a refusal before it would save nothing, and the commit
    /// checks the same.
    private static let sentWithHeader: Int64 = 64 << 10

    private let store: ObjectStore
    private let permit: WritePermit
    private let header: ObjectHeader
    private let body: BodyPipeline
    private let new: NewFile
    private var failure: (any Error)?
    /// Whether the activity of the upload is still to be recorded.
    private var activityIsDue: Bool

    /// - Parameter length: the length of the body; `nil` if it is not declared.
    package init(
        _ store: ObjectStore, permit: WritePermit, length: Int64?, checks: BodyChecks, header: ObjectHeader
    ) throws {
        try Self.checkSize(length ?? 0, limit: store.configuration.maximumPutBytes)
        try store.space.requireForNewUpload()
        if length.map({ $0 > Self.sentWithHeader }) ?? true {
            try store.database.readBlocking { connection in
                try Self.admit(length ?? 0, permit, in: connection)
                try permit.check(header.condition, in: connection)
            }
        }
        self.store = store
        self.permit = permit
        self.header = header
        let share = try store.share(length: length, for: permit.owner)
        new = try store.engine.create(FilePurpose(permit.claims.place), length: length)
        activityIsDue = permit.recordsActivity
        body = store.pipeline(checks, into: new.sink, share: share)
    }

    deinit {
        abandon()
    }

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do { try append(bytes) } catch { failure = error }
    }

    /// Takes bytes that come from the store itself, and of which none are needed after a failure.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try Self.checkSize(body.count + Int64(bytes.count), limit: store.configuration.maximumPutBytes)
        try body.append(bytes)
    }

    package func finish() throws -> StoredObject {
        defer { abandon() }
        if let failure { throw failure }
        let stored = try body.finish()
        try body.synchronizeAndClose()
        let claims = permit.claims
        let object = StoredObject(
            claims.place,
            StoredObject.Content(
                size: stored.size, etag: ETag.whole(md5: stored.md5, header.etags), crc64: stored.crc64,
                crc32: stored.crc32, checksum: stored.checksum),
            fileID: new.id, createdAt: store.clock.now(), contentType: header.contentType, kept: header.kept)
        try new.commit {
            try store.database.writeBlocking(for: permit.owner) { [permit, store, header] connection in
                try permit.confirm(in: connection)
                try permit.check(header.condition, in: connection)
                try permit.own(in: connection)
                try Self.admit(object.size, permit, in: connection)
                try permit.record(in: connection)
                try permit.recordActivity(in: connection)
                try store.engine.record(object.fileID, stored.content, in: connection)
                let records = StoreRecords(connection)
                var object = object
                // Tags may have changed since the request began.
                if header.inheritsKept, let present = try records.object(uploadID: object.uploadID) {
                    object.kept = present.kept
                }
                try store.work.discards.finish(records.replaceObject(with: object), in: connection)
            }
        }
        activityIsDue = false
        store.engine.seal(new.id)
        return object
    }

    /// Removes the file, unless ``finish()`` has made it an object's, or may have.
    package func abandon() {
        body.cancel()
        new.abandon()
        if activityIsDue { store.recordActivity(of: permit) }
        activityIsDue = false
    }

    /// Checks the quota; the bytes of an earlier object of this upload are replaced.
    private static func admit(_ size: Int64, _ permit: WritePermit, in connection: ReadConnection) throws {
        let earlier = try StoreRecords(connection).object(uploadID: permit.claims.uploadID)?.size ?? 0
        try permit.admit(bytes: size - earlier, in: connection)
    }

    private static func checkSize(_ size: Int64, limit: Int64) throws(ObjectStoreError) {
        guard size > limit else { return }
        throw .objectTooLarge(limit: limit)
    }
}

/// An AppendObject: makes a new object from the existing bytes and those of the body, in a new file, so that acknowledged bytes are
/// never overwritten. So an append costs as much as writing the whole object.
package final class ObjectAppend {
    private let put: ObjectPut
    private var digest: BodyDigest

    /// - Parameters:
    ///   - position: the size of the existing object.
    ///   - payload: its checks are of the body only.
    ///   - header: of an object that exists, only fields that it has already.
    package init(
        _ store: ObjectStore, permit: WritePermit, at position: Int64, _ payload: Payload, header: ObjectHeader
    ) throws {
        let claims = permit.claims
        let condition = header.condition.and(appendAt: position)
        let present = try store.database.readBlocking { connection in
            try permit.check(condition, in: connection)
            return try StoreRecords(connection).object(bucket: claims.bucket, key: claims.key)
        }
        try present?.requireIntact()
        var header = header
        if let present {
            if let name = header.kept.difference(from: present.kept, .oss) {
                throw ObjectStoreError.laterAppendSets(name)
            }
            header.inheritsKept = true
            header.contentType = present.contentType
        } else {
            header.kept.isAppendable = true
        }
        // If the object is replaced meanwhile, by one of any size, the append must not overwrite it.
        header.condition = condition.and(appendAt: position, toFile: present?.fileID)
        let limit = store.configuration.maximumPutBytes
        guard (payload.length ?? 0) <= limit else { throw ObjectStoreError.objectTooLarge(limit: limit) }
        digest = BodyDigest(payload.checks)
        put = try ObjectPut(
            store, permit: permit, length: payload.length.map { $0 + position }, checks: BodyChecks(), header: header)
        guard let present else { return }
        do {
            try store.read(present, 0..<present.size, put.append)
        } catch {
            put.abandon()
            // Somebody may have replaced the object since its row was read, and its file is removed then.
            try store.database.readBlocking { try permit.check(header.condition, in: $0) }
            throw error
        }
    }

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        digest.update(bytes)
        put.receive(bytes)
    }

    package func finish() throws -> StoredObject {
        defer { abandon() }
        _ = try digest.finalize()
        return try put.finish()
    }

    package func abandon() { put.abandon() }
}
