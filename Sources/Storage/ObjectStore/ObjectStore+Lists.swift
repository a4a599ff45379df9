import Basics
import Database
import StoreProtocol

/// What static keys do to several objects at once.
extension ObjectStore {
    /// Keys of one transaction.
    private static let deletionBatch = 64

    /// What came of one key of DeleteObjects.
    package enum DeletionResult: Sendable {
        case deleted
        case refused(StoreError)
    }

    /// Deletes objects, some dozen in a transaction. Of one that is not there it is as if it had been deleted.
    ///
    /// - Returns: what came of each, in their order.
    package func delete(
        _ items: [DirectDeletion], _ policy: any AccessPolicy, _ origin: WriteOrigin
    ) throws -> [DeletionResult] {
        var results: [DeletionResult] = []
        for start in stride(from: 0, to: items.count, by: Self.deletionBatch) {
            let batch = Array(items[start..<min(start + Self.deletionBatch, items.count)])
            results += try database.writeBlocking(for: batch.first?.owner, mayUseReserve: true) { connection in
                var deleted: [String] = []
                let results = try batch.map { try self.delete($0, policy, &deleted, in: connection) }
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

    private func delete(
        _ item: DirectDeletion, _ policy: any AccessPolicy, _ deleted: inout [String], in connection: Connection
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
            return .refused(.uploadIsReadOnly)
        } catch ObjectStoreError.noSuchUpload {
            // What is there, and not listed yet, is as little deleted as by DeleteObject.
            return found == nil ? .deleted : .refused(.uploadIsReadOnly)
        } catch let error as StoreError {
            return .refused(error)
        }
        if found != nil {
            deleted.append(item.name)
            try discards.finish(records.deleteObject(uploadID: claims.uploadID), in: connection)
        }
        return .deleted
    }

    /// A page of the open multipart uploads of static keys in a bucket, in the order of their keys and ids.
    package func listMultiparts(_ query: MultipartListQuery, bucket: String) throws -> MultipartList {
        var list = MultipartList()
        try database.readBlocking { connection in
            let records = StoreRecords(connection)
            let end = query.prefix + "\u{10FFFF}"
            // Behind a key all of whose uploads were told: no id is above this.
            var place = (key: query.keyMarker, id: query.idMarker.isEmpty ? "~" : query.idMarker)
            if place.key.utf8.lexicographicallyPrecedes(query.prefix.utf8) { place = (query.prefix, "") }
            // With a delimiter a common prefix is jumped over, so most of a large batch would be for nothing.
            let batch = query.delimiter.isEmpty ? query.limit + 1 : min(query.limit + 1, 64)
            while true {
                let found = try records.directMultiparts(
                    bucket: bucket, from: place.key, after: place.id, below: end, limit: batch)
                var jumps = false
                for upload in found where !jumps {
                    guard list.uploads.count + list.prefixes.count < query.limit else {
                        list.isTruncated = true
                        return
                    }
                    place = (upload.key, upload.id)
                    if let prefix = query.commonPrefix(of: upload.key) {
                        list.prefixes.append(prefix)
                        place = (prefix + "\u{10FFFF}", "")
                        jumps = true
                    } else {
                        list.uploads.append(upload)
                    }
                    list.last = place
                }
                if found.count < batch, !jumps { return }
            }
        }
        return list
    }

    /// Replaces the tags that were stored with an object of a static key's.
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

    /// The tags of an object: those that the catalog has of an upload, or those that were stored with it.
    package func tags(_ claims: CredentialClaims, _ policy: any AccessPolicy) throws -> TagSet {
        let object = try object(claims)
        let cataloged = try database.readBlocking { try policy.tags(uploadID: claims.uploadID, in: $0) }
        return cataloged.map { TagSet($0) } ?? object.kept.tags
    }
}

/// One key of DeleteObjects.
package struct DirectDeletion: Sendable {
    fileprivate let key: StaticKey
    /// Stored.
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
    /// Where the next page begins.
    package var last = (key: "", id: "")
    package var isTruncated = false
}

extension MultipartListQuery {
    /// What a key is told as; `nil` = as itself. By bytes.
    fileprivate func commonPrefix(of key: String) -> String? {
        let bytes = Array(key.utf8)
        guard !delimiter.isEmpty, bytes.starts(with: prefix.utf8),
            let found = bytes[prefix.utf8.count...].firstRange(of: Array(delimiter.utf8))
        else { return nil }
        return String(decoding: bytes[..<found.upperBound], as: UTF8.self)
    }
}
