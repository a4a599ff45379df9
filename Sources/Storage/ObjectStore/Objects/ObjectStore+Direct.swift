package import Basics
import Database
package import StoreProtocol

/// Operations of static keys, in addition to those of all credentials.
extension ObjectStore {
    /// The number of rows that one page of a list reads; further ones make the page short.
    private static let listVisits = 10_000

    /// Returns a page of the objects below a static key's prefix, in the byte order of their keys.
    package func list(
        _ query: ObjectListQuery, for key: StaticKey, policy: any AccessPolicy
    ) throws -> ObjectList {
        guard query.limit > 0 else { return ObjectList() }
        // In the background: a page may visit thousands of rows, and one key may ask for many pages at once.
        return try database.readInBackgroundBlocking(for: .staticKey(key.id)) { connection in
            let records = StoreRecords(connection)
            var list = ObjectList()
            var place = query.first
            var seen = ""
            var visits = 0
            while visits < Self.listVisits {
                // With a delimiter common prefixes are skipped, so most of a large batch would be useless.
                let batch = query.delimiter.isEmpty ? query.limit : 64
                let found = try records.objects(
                    bucket: key.bucket, from: place, below: query.end, limit: PageLimit(rows: batch))
                var jumps = false
                for object in found.rows where !jumps {
                    visits += 1
                    seen = object.key
                    place = query.next(after: seen)
                    let claims = key.claims(to: object.key, uploadID: object.uploadID)
                    guard try policy.decide(claims, in: connection).isVisible else { continue }
                    let prefix = query.commonPrefix(of: object.key)
                    guard list.count < query.limit,
                        list.size.admits(prefix ?? object.key, encodesKey: query.encodesKeys)
                    else {
                        list.isTruncated = true
                        return list
                    }
                    if let prefix {
                        list.prefixes.append(prefix)
                        seen = prefix
                        place = query.next(after: prefix)
                        list.last = prefix
                        jumps = true
                    } else {
                        list.objects.append(object)
                        list.last = object.key
                    }
                }
                if !found.hasMore, !jumps { return list }
            }
            list.isTruncated = true
            list.last = seen
            return list
        }
    }

    /// Removes an object that was put with a static key.
    ///
    /// - Parameter found: the object when the request began, which only replicas need. One that was stored since then stays: the request is
    ///   ordered before its writer, so that a deletion that its client gave up removes nothing that was acknowledged later.
    package func delete(
        _ permit: WritePermit, _ condition: WriteCondition = .none, found: StoredObject? = nil
    ) throws {
        let (uploadID, hasReplicas) = (permit.claims.uploadID, configuration.hasReplicas)
        try database.writeBlocking(for: permit.owner, mayUseReserve: true) { [discards = work.discards] connection in
            let records = StoreRecords(connection)
            try permit.confirm(in: connection)
            try permit.check(condition, in: connection)
            if hasReplicas, try found == nil || records.file(ofObject: uploadID) != found?.fileID { return }
            try permit.record(in: connection)
            try discards.finish(records.deleteObject(uploadID: uploadID), in: connection)
        }
    }

    /// Aborts multipart uploads of static keys without a part for `time`; called every few minutes. Their objects stay, because
    /// only their clients know when they are no longer needed.
    ///
    /// - Returns: the number of aborted multipart uploads.
    package func sweepDirectMultiparts(idleFor time: Duration, _ permit: DeletionPermit) async throws -> Int {
        let idle = try database.readBlocking { try StoreRecords($0).directMultiparts(idleFor: time, permit) }
        for id in idle {
            // A part in transit finds no upload in its commit.
            try await database.write(mayUseReserve: true) { [discards = work.discards] connection in
                let records = StoreRecords(connection)
                guard let multipart = try records.multipart(id), !multipart.isCompleted else { return }
                let discarded = try records.discard(
                    .one(id: id, uploadID: multipart.uploadID), limit: Discards.inline)
                try discards.finish(discarded, in: connection)
            }
        }
        return idle.count
    }
}

/// A page of a bucket's objects.
package struct ObjectList {
    package var objects: [StoredObject] = []
    package var prefixes: [String] = []
    /// The last entry of both.
    package var last = ""
    package var isTruncated = false
    fileprivate var size = ListSize()

    package var count: Int { objects.count + prefixes.count }
}

extension AccessDecision {
    /// Whether the existence of an object may be revealed.
    package var isVisible: Bool {
        switch self {
        case .allowed, .readOnly: true
        case .denied, .noSuchUpload: false
        }
    }
}
