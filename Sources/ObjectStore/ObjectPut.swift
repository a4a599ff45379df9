import Database
import Platform

/// One PUT of a whole object, from its header to its acknowledgement: a new file, `fdatasync`, then the row that takes
/// the place of an earlier object.
final class ObjectPut {
    private let store: ObjectStore
    private let permit: WritePermit
    private let etags: ETag.Form
    private let contentType: String?
    private let body: BodyPipeline
    private let fileID: String
    private var isKept = false
    private var failure: (any Error)?

    init(
        _ store: ObjectStore, permit: WritePermit, payload: Payload, contentType: String?, etags: ETag.Form
    ) throws {
        try Self.checkSize(payload.length ?? 0, limit: store.configuration.maximumPutBytes)
        try store.space.requireForNewUpload()
        try store.database.read { try Self.admit(payload.length ?? 0, permit, in: $0) }
        self.store = store
        self.permit = permit
        self.etags = etags
        self.contentType = contentType
        let share = try store.share(length: payload.length)
        let (fileID, file) = try store.data.create()
        self.fileID = fileID
        body = store.pipeline(payload.checks, into: file, share: share)
    }

    deinit {
        abandon()
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do {
            try Self.checkSize(body.count + Int64(bytes.count), limit: store.configuration.maximumPutBytes)
            try body.append(bytes)
        } catch {
            failure = error
        }
    }

    func finish() throws -> StoredObject {
        defer { abandon() }
        if let failure { throw failure }
        let stored = try body.finish()
        try body.synchronizeAndClose()
        let claims = permit.claims
        let object = StoredObject(
            bucket: claims.bucket, key: claims.key, uploadID: claims.uploadID, size: stored.size,
            etag: ETag.whole(md5: stored.md5, etags), partCount: 0, crc64: stored.crc64, createdAt: store.clock.now(),
            fileID: fileID, multipartID: nil, contentType: contentType,
            checksum: stored.checksum)
        let replaced = try store.database.writeBlocking { [permit] connection in
            try permit.confirm(in: connection)
            try Self.admit(object.size, permit, in: connection)
            return try StoreRecords(connection).replaceObject(with: object)
        }
        isKept = true
        store.data.seal(fileID)
        store.removeFiles(replaced)
        return object
    }

    /// Removes the file, unless ``finish()`` made it an object's.
    func abandon() {
        guard !isKept else { return }
        isKept = true
        body.cancel()
        // Where even that fails, the sweep takes it.
        _ = try? store.data.remove(fileID)
    }

    /// An earlier object of this upload makes room.
    private static func admit(_ size: Int64, _ permit: WritePermit, in connection: Connection) throws {
        let earlier = try StoreRecords(connection).object(uploadID: permit.claims.uploadID)?.size ?? 0
        try permit.admit(bytes: size - earlier, in: connection)
    }

    private static func checkSize(_ size: Int64, limit: Int64) throws(StoreError) {
        guard size > limit else { return }
        throw StoreError(.entityTooLarge, "An object put whole is at most \(limit) bytes.")
    }
}
