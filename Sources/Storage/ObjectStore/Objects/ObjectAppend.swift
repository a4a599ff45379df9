import Basics
import Crypto
import Database
package import StoreProtocol

/// An AppendObject.
///
/// If the engine can add bytes to a file (``ObjectEngine/extend(_:_:length:)``), only those of the body are written. Otherwise the existing
/// bytes and those of the body become a new file, so that acknowledged bytes are never overwritten: an append costs as much as writing the
/// whole object then.
package final class ObjectAppend {
    private let put: ObjectPut
    /// The digest of the body, unless the put has no other bytes.
    private var digest: BodyDigest?

    /// - Parameters:
    ///   - position: the size of the existing object.
    ///   - payload: its checks are of the body only.
    ///   - header: of an object that exists, only fields that it has already.
    package init(
        _ store: ObjectStore, permit: WritePermit, at position: Int64, _ payload: Payload, header: ObjectHeader
    ) throws {
        let claims = permit.claims
        let condition = header.condition.and(appendAt: position)
        let (present, md5) = try store.database.readBlocking { connection in
            try permit.check(condition, in: connection)
            let records = StoreRecords(connection)
            let present = try records.object(bucket: claims.bucket, key: claims.key)
            return (present, try present.flatMap(records.runningMD5))
        }
        try present?.requireIntact()
        var header = header
        if let present {
            if let name = header.kept.difference(from: present.kept, .oss) {
                throw ObjectStoreError.laterAppendSets(name)
            }
            header.inheritsKept = true
            header.contentType = present.contentType
        }
        header.kept.isAppendable = true
        // If the object is replaced meanwhile, by one of any size, the append must not overwrite it.
        header.condition = condition.and(appendAt: position, toFile: present?.fileID)
        let limit = store.configuration.maximumPutBytes
        guard (payload.length ?? 0) <= limit else { throw ObjectStoreError.objectTooLarge(limit: limit) }
        if let present, let md5,
            let file = try store.engine.extend(present.fileID, FilePurpose(claims.place), length: payload.length)
        {
            put = try ObjectPut(
                store, permit: permit, length: payload.length, checks: payload.checks, header: header,
                extending: ExtendedObject(object: present, md5: md5, file: file))
            return
        }
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
        digest?.update(bytes)
        put.receive(bytes)
    }

    package func finish() throws -> StoredObject {
        defer { abandon() }
        _ = try digest?.finalize()
        return try put.finish()
    }

    package func abandon() { put.abandon() }
}
