import Basics
import Crypto
import Database
package import StoreProtocol

/// An object of which more bytes follow, while they are received.
struct ExtendedObject {
    let object: StoredObject
    /// The MD5 of its bytes, and of those that followed so far.
    var md5: RunningMD5
    /// Gets the bytes that follow.
    let file: NewFile

    /// Returns the properties of the bytes of the object and of those that followed.
    func content(_ stored: BodyDigest.Stored, _ etags: ETag.Form) -> StoredObject.Content {
        StoredObject.Content(
            size: object.size + stored.size, etag: ETag.whole(md5: md5.finalize(), etags),
            crc64: CRC.crc64.combine(object.crc64, stored.crc64, secondLength: stored.size),
            crc32: object.crc32.map {
                UInt32(CRC.crc32.combine(UInt64($0), UInt64(stored.crc32), secondLength: stored.size))
            })
    }
}

/// One PUT of a whole object, from its header to its acknowledgement: a new file, `fdatasync`, then the row, which replaces that of
/// an earlier object. Or one of bytes that follow those of an object: then the new file has only these.
package final class ObjectPut {
    /// The largest body that clients send with the header of its request, in bytes: a refusal before it would save nothing, and the commit
    /// checks the same.
    private static let sentWithHeader: Int64 = 64 << 10

    private let store: ObjectStore
    private let permit: WritePermit
    private let header: ObjectHeader
    private let body: BodyPipeline
    private let new: NewFile
    private var extended: ExtendedObject?
    /// The version of the object when this began, which others may replace meanwhile; `nil` = no other gateway writes.
    private let base: Int64?
    private var failure: (any Error)?
    /// Whether the activity of the upload is still to be recorded.
    private var activityIsDue: Bool

    /// - Parameter length: the length of the body; `nil` if it is not declared.
    package convenience init(
        _ store: ObjectStore, permit: WritePermit, length: Int64?, checks: BodyChecks, header: ObjectHeader
    ) throws {
        try self.init(store, permit: permit, length: length, checks: checks, header: header, extending: nil)
    }

    /// - Parameter extended: the object that the body follows.
    init(
        _ store: ObjectStore, permit: WritePermit, length: Int64?, checks: BodyChecks, header: ObjectHeader,
        extending extended: ExtendedObject?
    ) throws {
        let size = (extended?.object.size ?? 0) + (length ?? 0)
        try Self.checkSize(size, limit: store.configuration.maximumPutBytes)
        try store.space.requireForNewUpload()
        let isChecked = length.map { $0 > Self.sentWithHeader } ?? true
        let hasReplicas = store.configuration.hasReplicas
        base =
            isChecked || hasReplicas
            ? try store.database.readBlocking { connection in
                if isChecked {
                    try Self.admit(size, permit, in: connection)
                    try permit.check(header.condition, in: connection)
                }
                return try hasReplicas ? StoreRecords(connection).version(ofObject: permit.claims.uploadID) : nil
            } : nil
        self.store = store
        self.permit = permit
        self.header = header
        self.extended = extended
        let share = try store.share(length: length, for: permit.owner)
        new = try extended?.file ?? store.engine.create(FilePurpose(permit.claims.place), length: length)
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
        let size = (extended?.object.size ?? 0) + body.count + Int64(bytes.count)
        try Self.checkSize(size, limit: store.configuration.maximumPutBytes)
        extended?.md5.update(bytes)
        try body.append(bytes)
    }

    package func finish() throws -> StoredObject {
        defer { abandon() }
        if let failure { throw failure }
        let stored = try body.finish()
        try body.synchronizeAndClose()
        let object = StoredObject(
            permit.claims.place, extended?.content(stored, header.etags) ?? stored.whole(header.etags), fileID: new.id,
            createdAt: store.clock.now(), contentType: header.contentType, kept: header.kept)
        let written = Written(
            object: object, content: stored.content, extendedID: extended?.object.fileID,
            md5: header.kept.isAppendable ? extended?.md5 ?? stored.running : nil, base: base)
        try new.commit {
            try store.database.writeBlocking(for: permit.owner) { [permit, store, header] connection in
                try permit.confirm(in: connection)
                try permit.check(header.condition, in: connection)
                try permit.own(in: connection)
                try Self.admit(object.size, permit, in: connection)
                try permit.record(in: connection)
                try permit.recordActivity(in: connection)
                try store.record(written, inheritsKept: header.inheritsKept, in: connection)
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

/// The result of a PUT.
private struct Written: Sendable {
    let object: StoredObject
    /// The bytes of the body.
    let content: FileContent
    /// The file of the object that they follow; `nil` = the object has no others.
    let extendedID: String?
    /// The MD5 of an appendable object.
    let md5: RunningMD5?
    /// The version of the object when the PUT began, see ``StoreRecords/replaceObject(with:from:)``.
    let base: Int64?
}

extension ObjectStore {
    /// Makes what was written an object, in place of an earlier one.
    fileprivate func record(_ written: Written, inheritsKept: Bool, in connection: Connection) throws {
        var object = written.object
        if let extendedID = written.extendedID {
            // Somebody made a copy of the object meanwhile, which has its bytes, too.
            guard try engine.recordExtension(object.fileID, of: extendedID, written.content, in: connection) else {
                throw WritesInFlight.Revoked()
            }
        } else {
            try engine.record(object.fileID, written.content, in: connection)
        }
        let records = StoreRecords(connection)
        // Tags may have changed since the request began.
        if inheritsKept, let present = try records.object(uploadID: object.uploadID) { object.kept = present.kept }
        var replaced = try records.replaceObject(with: object, from: written.base)
        replaced.files.removeAll { $0 == written.extendedID }
        if let md5 = written.md5 { try records.setRunningMD5(md5, uploadID: object.uploadID) }
        try work.discards.finish(replaced, in: connection)
    }
}
