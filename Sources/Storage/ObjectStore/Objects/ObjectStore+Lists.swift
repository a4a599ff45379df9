import Basics
import Database
package import StoreProtocol

/// The operations of static keys on several objects.
extension ObjectStore {
    /// The number of keys in one transaction.
    private static let deletionBatch = 64

    /// The result for one key of DeleteObjects.
    package enum DeletionResult: Sendable {
        case deleted
        case refused(any Error)
    }

    /// Deletes objects, some dozen in a transaction. An object that does not exist counts as deleted; with replicas also one that was
    /// stored since the beginning, which stays.
    ///
    /// - Returns: the results in the order of the items.
    package func delete(
        _ items: [DirectDeletion], _ policy: any AccessPolicy, _ origin: WriteOrigin
    ) throws -> [DeletionResult] {
        var results: [DeletionResult] = []
        let files = try files(of: items)
        for start in stride(from: 0, to: items.count, by: Self.deletionBatch) {
            let batch = Array(items[start..<min(start + Self.deletionBatch, items.count)])
            results += try database.writeBlocking(for: batch.first?.owner, mayUseReserve: true) { connection in
                var deleted: [String] = []
                let results = try batch.map { try self.delete($0, files, policy, &deleted, in: connection) }
                if let key = batch.first?.key, !deleted.isEmpty {
                    let change = StaticKeyChange(
                        keyID: key.id, operation: origin.operation, peer: origin.peer, bucket: key.bucket,
                        names: deleted)
                    try policy.record(change, in: connection)
                }
                return results
            }
        }
        return results
    }

    /// Returns the files of the objects by their keys; `nil` without replicas.
    private func files(of items: [DirectDeletion]) throws -> [String: String]? {
        guard configuration.hasReplicas, let bucket = items.first?.key.bucket else { return nil }
        return try database.readBlocking { connection in
            var files: [String: String] = [:]
            for start in stride(from: 0, to: items.count, by: 1000) {
                let names = items[start..<min(start + 1000, items.count)].map(\.name)
                files.merge(try StoreRecords(connection).files(ofObjects: names, bucket: bucket)) { first, _ in first }
            }
            return files
        }
    }

    /// - Parameter files: the files of the objects at the beginning; `nil` = an object is deleted whenever it was stored.
    private func delete(
        _ item: DirectDeletion, _ files: [String: String]?, _ policy: any AccessPolicy, _ deleted: inout [String],
        in connection: Connection
    ) throws -> DeletionResult {
        let records = StoreRecords(connection)
        let found = try records.object(bucket: item.key.bucket, key: item.name)
        let claims = item.key.claims(to: item.name, uploadID: found?.uploadID)
        let permit = WritePermit(claims: claims, policy: policy)
        do {
            guard claims.operations.contains(.write) else { throw ObjectStoreError.writeDenied }
            try permit.confirm(in: connection)
            try permit.check(item.condition, in: connection)
        } catch ObjectStoreError.writeDenied {
            return .refused(ObjectStoreError.uploadIsReadOnly)
        } catch ObjectStoreError.noSuchUpload {
            // An object that is not listed yet is not deleted, as with DeleteObject.
            return found == nil ? .deleted : .refused(ObjectStoreError.uploadIsReadOnly)
        } catch ObjectStoreError.conditionFailed(let violation) {
            return .refused(ObjectStoreError.conditionFailed(violation))
        }
        if let found, files.map({ $0[item.name] == found.fileID }) ?? true {
            deleted.append(item.name)
            try work.discards.finish(records.deleteObject(uploadID: claims.uploadID), in: connection)
        }
        return .deleted
    }

    /// Returns a page of the open multipart uploads of static keys in a bucket, sorted by key and id.
    package func listMultiparts(_ query: MultipartListQuery, bucket: String, for key: StaticKey) throws -> MultipartList
    {
        // No further page follows one that was limited to nothing.
        guard query.limit > 0 else { return MultipartList() }
        return try database.readInBackgroundBlocking(for: .staticKey(key.id)) { connection in
            let records = StoreRecords(connection)
            var list = MultipartList()
            let end = query.prefix + "\u{10FFFF}"
            // A position after a key whose uploads were all listed: no id is above this.
            var place = (key: query.keyMarker, id: query.idMarker.isEmpty ? "~" : query.idMarker)
            if place.key.utf8.lexicographicallyPrecedes(query.prefix.utf8) { place = (query.prefix, "") }
            // With a delimiter a common prefix is jumped over, so most of a large batch would be for nothing.
            let batch = query.delimiter.isEmpty ? query.limit : min(query.limit, 64)
            while true {
                let found = try records.directMultiparts(
                    bucket: bucket, from: place.key, after: place.id, below: end, limit: PageLimit(rows: batch))
                var jumps = false
                for upload in found.rows where !jumps {
                    let prefix = query.commonPrefix(of: upload.key)
                    guard list.count < query.limit,
                        list.size.admits(prefix ?? upload.key, encodesKey: query.encodesKeys)
                    else {
                        list.isTruncated = true
                        return list
                    }
                    place = (upload.key, upload.id)
                    if let prefix {
                        list.prefixes.append(prefix)
                        place = (prefix + "\u{10FFFF}", "")
                        jumps = true
                    } else {
                        list.uploads.append(upload)
                    }
                    list.last = place
                }
                if !found.hasMore, !jumps { return list }
            }
        }
    }

    /// Replaces the stored tags of a static key's object.
    package func setTags(_ tags: TagSet, _ permit: WritePermit) throws {
        let claims = permit.claims
        try database.writeBlocking(for: permit.owner) { connection in
            try permit.confirm(in: connection)
            try permit.record(in: connection)
            let records = StoreRecords(connection)
            guard var kept = try records.object(uploadID: claims.uploadID)?.kept else {
                throw ObjectStoreError.noSuchObject
            }
            kept.tags = tags
            try records.setKept(kept, uploadID: claims.uploadID)
        }
    }

    /// Returns the tags of an object: the catalog's for an upload, or those stored with it.
    package func tags(of object: StoredObject, _ policy: any AccessPolicy) throws -> TagSet {
        let cataloged = try database.readBlocking { try policy.tags(uploadID: object.uploadID, in: $0) }
        return cataloged.map { TagSet($0) } ?? object.kept.tags
    }
}

/// A key of DeleteObjects.
package struct DirectDeletion: Sendable {
    fileprivate let key: StaticKey
    /// The stored key.
    let name: String
    let condition: WriteCondition

    package init(key: StaticKey, name: String, condition: WriteCondition) {
        self.key = key
        self.name = name
        self.condition = condition
    }

    fileprivate var owner: WorkOwner { .staticKey(key.id) }
}

/// A page of a bucket's multipart uploads.
package struct MultipartList {
    package var uploads: [MultipartRecord] = []
    package var prefixes: [String] = []
    /// The position at which the next page begins.
    package var last = (key: "", id: "")
    package var isTruncated = false
    fileprivate var size = ListSize()

    fileprivate var count: Int { uploads.count + prefixes.count }
}

extension MultipartListQuery {
    /// Returns the common prefix under which a key is listed; `nil` = the key itself is listed. Compared by bytes.
    fileprivate func commonPrefix(of key: String) -> String? {
        let bytes = Array(key.utf8)
        guard !delimiter.isEmpty, bytes.starts(with: prefix.utf8),
            let found = bytes[prefix.utf8.count...].firstRange(of: Array(delimiter.utf8))
        else { return nil }
        return String(decoding: bytes[..<found.upperBound], as: UTF8.self)
    }
}

/// The size of a list in a response, with the entries so far.
struct ListSize {
    private var bytes = 0

    /// Whether a further entry fits into a response, as the first one always does; counts it then.
    mutating func admits(_ key: String, encodesKey: Bool) -> Bool {
        let size = ListEntrySize.bytes(ofKey: key, encodesKey: encodesKey)
        guard bytes == 0 || size <= PageLimit.bytes - bytes else { return false }
        bytes += size
        return true
    }
}
