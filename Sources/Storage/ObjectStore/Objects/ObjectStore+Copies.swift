import Basics
import Checksums
import Database
package import StoreProtocol

/// Copies of objects.
extension ObjectStore {
    /// Makes an object with the bytes of another, without moving them if the engine can: each object then has its own file with the
    /// same bytes, counts in quotas, and is deleted independently.
    ///
    /// - Parameters:
    ///   - checksum: of the copy's bytes, which are read if the source does not have it; `nil` = the source's.
    ///   - excess: the quota that the copy would exceed.
    /// - Throws: `noSuchObject`, `sourceConditionFailed`, and the errors of `header`'s condition.
    package func copy(
        _ source: DecidedAccess, to permit: WritePermit, conditions: Preconditions,
        checksum algorithm: ChecksumAlgorithm? = nil, excess: String? = nil,
        _ header: @escaping @Sendable (StoredObject) throws -> ObjectHeader
    ) throws -> StoredObject {
        if source.claims.bucket == permit.claims.bucket, source.claims.key == permit.claims.key {
            return try revise(source, permit, conditions: conditions, checksum: algorithm, header)
        }
        try space.requireForNewUpload()
        let base = try base(of: permit.claims)
        return try withObject(source) { found in
            try found.requireIntact()
            try conditions.require(of: found)
            let header = try header(found)
            if !header.condition.isNone {
                try database.readBlocking { try permit.check(header.condition, in: $0) }
            }
            if let excess { throw ObjectStoreError.quotaExceeded(excess) }
            let checksum = try algorithm.map { try self.checksum($0, of: found) } ?? found.checksum
            let new = try engine.duplicate(found.fileID)
            let claims = permit.claims
            let object = StoredObject(
                claims.place,
                StoredObject.Content(
                    size: found.size, etag: found.etag, crc64: found.crc64, crc32: found.crc32,
                    checksum: checksum),
                fileID: new.id, createdAt: clock.now(), contentType: header.contentType, kept: header.kept)
            try new.commit {
                try database.writeBlocking(for: permit.owner) { [self] connection in
                    try permit.confirm(in: connection)
                    try permit.check(header.condition, in: connection)
                    try permit.own(in: connection)
                    try admitCopy(object, permit, in: connection)
                    try permit.record(copyOf: source.claims, in: connection)
                    try engine.record(
                        object.fileID, FileContent(size: object.size, crc64: object.crc64), in: connection)
                    let replaced = try StoreRecords(connection).replaceObject(with: object, from: base)
                    try work.discards.finish(replaced, in: connection)
                }
            }
            engine.seal(new.id)
            return object
        }
    }

    /// Returns the version of an object for a write that begins now, see ``WriteOrder``; `nil` if no other gateway writes.
    func base(of claims: CredentialClaims) throws -> Int64? {
        guard configuration.hasReplicas else { return nil }
        return try database.readBlocking { try StoreRecords($0).version(ofObject: claims.uploadID) }
    }

    /// Copies an object to itself, which only changes what is stored beside its bytes.
    private func revise(
        _ source: DecidedAccess, _ permit: WritePermit, conditions: Preconditions,
        checksum algorithm: ChecksumAlgorithm?, _ header: @escaping @Sendable (StoredObject) throws -> ObjectHeader
    ) throws -> StoredObject {
        let now = clock.now()
        // Before the transaction, since all bytes may be read.
        let new = try algorithm.map { algorithm in
            try withObject(source) { found in (found.fileID, try self.checksum(algorithm, of: found)) }
        }
        return try database.writeBlocking(for: permit.owner) { connection in
            try permit.confirm(in: connection)
            let records = StoreRecords(connection)
            guard var object = try records.object(uploadID: permit.claims.uploadID) else {
                throw ObjectStoreError.noSuchObject
            }
            try conditions.require(of: object)
            let header = try header(object)
            try permit.check(header.condition, in: connection)
            try permit.own(in: connection)
            try permit.record(copyOf: source.claims, in: connection)
            if let (fileID, checksum) = new {
                guard fileID == object.fileID else { throw WritesInFlight.Revoked() }
                object.checksum = checksum
            }
            object.kept = header.kept
            object.contentType = header.contentType
            object.createdAt = now
            try records.setHeader(of: object)
            return object
        }
    }

    /// Returns a checksum of an object's bytes: the stored one, or a new one.
    private func checksum(_ algorithm: ChecksumAlgorithm, of object: StoredObject) throws -> Checksum {
        if let stored = object.checksum, stored.algorithm == algorithm, stored.kind == .fullObject { return stored }
        try object.requireIntact()
        var checksum = RunningChecksum(algorithm)
        try read(object, 0..<object.size) { checksum.update($0) }
        return checksum.finalize()
    }

    private func admitCopy(_ object: StoredObject, _ permit: WritePermit, in connection: ReadConnection) throws {
        let earlier = try StoreRecords(connection).object(uploadID: permit.claims.uploadID)?.size ?? 0
        try permit.admit(bytes: object.size - earlier, in: connection)
    }

    /// Reads a range of an object, a piece at a time.
    ///
    /// - Throws: `CorruptedObject` after the last piece where the range is the whole object and its bytes no longer match
    ///   their CRC-64; a part of an object has no checksum to compare.
    package func read(
        _ object: StoredObject, _ range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let file = try open(object)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer { buffer.deallocate() }
        let isWhole = range == 0..<object.size
        var crc64 = CRC64()
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - position))
            let count = try file.readPassing(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: position)
            guard count > 0 else { throw StorageFailure.missing }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if isWhole { crc64.update(piece) }
            try body(piece)
            position += Int64(count)
        }
        guard !isWhole || crc64.value == object.crc64 else {
            throw CorruptedObject(bucket: object.bucket, key: object.key)
        }
    }

    /// Returns the parts of an object, in order; empty if it was not a multipart upload.
    package func parts(of object: StoredObject) throws -> [PartRecord] {
        guard let id = object.multipartID else { return [] }
        return try database.readBlocking { try StoreRecords($0).parts(of: id) }
    }
}

/// An object whose bytes no longer match its checksum, so that nothing may be made of them.
struct CorruptedObject: Error, Equatable, CustomStringConvertible {
    let bucket: String
    let key: String

    var description: String { "The object \(bucket)/\(key) is corrupted: its bytes no longer match its checksum." }
}

extension Preconditions {
    /// - Throws: `sourceConditionFailed`, also if a GET would get 304.
    package func require(of object: StoredObject) throws(ObjectStoreError) {
        guard outcome(etag: object.etag, lastModified: object.createdAt) == .met else {
            throw .sourceConditionFailed
        }
    }
}
