import Accounts
import Basics
import Database
import GatewayFormats
import ObjectStore
import RPC
import Webhooks

/// The rules for removing objects, by an administrator or by age, by way of the trash.
///
/// In the trash an object keeps its row and its file, so that it can be restored and presigned URLs remain valid. A permanent
/// deletion removes the row first, and the file after the commit. Downloads in progress have the file open and can finish; after a
/// crash in between, the store's own sweep removes the file.
struct ObjectRemoval: Sendable {
    /// The author and the reason of a removal.
    struct Order: Sendable {
        /// The author, as in the audit log.
        let actor: String
        var reason: String
        var traceparent: String?
        /// The operation on many objects that removes it; `nil` = none.
        var operationID: String?
    }

    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    var outbox = Outbox.closed
    /// The number of objects in one transaction of a sweep. Each may have ten thousand parts, and other writes wait meanwhile.
    var batch = 16
    let walks = RetentionWalks()
    /// The number of records of deleted objects in one transaction.
    static let recordBatch = 500

    /// Moves an object to the trash, or deletes it if its organization has no trash. A repetition, e.g. after a lost response,
    /// succeeds again.
    ///
    /// - Returns: the time of the permanent deletion; `nil` if it is deleted.
    func delete(_ fileID: String, reason: String, by caller: Caller) async throws -> UnixTime? {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let records = ObjectRecords(connection)
            guard let object = try find(fileID, of: caller.organization, records) else { return nil }
            if let trashing = try records.trashing(of: object) { return trashing.purgeAt }
            let entry = caller.did(to: "objects/\(object.fileID)")
            try Audit.record(entry, at: now, in: connection)
            let order = Order(actor: entry.actor, reason: reason, traceparent: caller.traceparent)
            let grace = try records.trashGrace(organizationID: object.owner.organizationID)
            try remove(object, order, grace, at: now, in: connection)
            return grace.days > 0 ? grace.end(from: now) : nil
        }
    }

    /// Deletes an object in the trash permanently. A repetition succeeds again.
    ///
    /// - Parameter reason: empty = the reason of the move to the trash.
    func purge(_ fileID: String, reason: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let records = ObjectRecords(connection)
            guard let object = try find(fileID, of: caller.organization, records) else { return }
            guard let trashing = try records.trashing(of: object) else {
                throw RPCError.failedPrecondition("file \(fileID) is not in the trash: delete it first")
            }
            let entry = caller.did(to: "objects/\(object.fileID)")
            try Audit.record(entry, at: now, in: connection)
            let order = Order(
                actor: entry.actor, reason: reason.isEmpty ? trashing.reason : reason, traceparent: caller.traceparent)
            try purge(object, order, at: now, in: connection)
        }
    }

    /// Restores an object from the trash. An object outside the trash stays unchanged.
    func restore(_ fileID: String, by caller: Caller) async throws -> ListedObject {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let records = ObjectRecords(connection)
            guard var object = try find(fileID, of: caller.organization, records) else {
                throw RPCError.notFound("file \(fileID) was deleted permanently and cannot be restored")
            }
            if object.trashedAt != nil {
                try Audit.record(caller.did(to: "objects/\(object.fileID)"), at: now, in: connection)
                object = try restore(object, traceparent: caller.traceparent, at: now, in: connection)
            }
            return ListedObject(object: object, tags: try records.tags(uploadID: object.uploadID) ?? [:])
        }
    }

    /// - Returns: `nil` if the organization's object was deleted permanently.
    private func find(
        _ id: String, of organization: OrganizationReference, _ records: ObjectRecords<some ReadConnection>
    ) throws -> CatalogObject? {
        if let object = try records.anyObject(id: id, scope: organization.id) { return object }
        if try records.wasDeleted(id: id, organizationID: organization.id) { return nil }
        throw RPCError.notFound("organization \(organization.name) has no file \(id)")
    }

    /// Removes records of objects that were deleted at least `age` ago.
    ///
    /// - Returns: the number of removed records.
    func forgetDeleted(olderThan age: Duration, _ permit: DeletionPermit) async throws -> Int {
        try await inBatches(of: Self.recordBatch) {
            try await database.write(mayUseReserve: true) {
                try ObjectRecords($0).forgetDeleted(olderThan: age, permit, count: Self.recordBatch)
            }
        }
    }

    /// Repeats `body` as long as it processes whole batches.
    ///
    /// - Returns: the sum of its results.
    func inBatches(of size: Int, _ body: () async throws -> Int) async throws -> Int {
        var (sum, count) = (0, size)
        while count == size, !Task.isCancelled {
            count = try await body()
            sum += count
        }
        return sum
    }

    /// Repeats a step of a sweep for each of some organizations, which take turns, so that one with millions of objects does not delay
    /// the others.
    ///
    /// - Parameter step: a step for one organization. Returns the number of removed objects, and whether it was the last.
    /// - Returns: the sum of removed objects.
    func inTurns(
        _ organizations: [Int64], _ step: (_ organizationID: Int64) async throws -> (removed: Int, isLast: Bool)
    ) async throws -> Int {
        var (open, removed) = (organizations, 0)
        while !open.isEmpty {
            var next: [Int64] = []
            for organizationID in open {
                if Task.isCancelled { return removed }
                let result = try await step(organizationID)
                removed += result.removed
                if !result.isLast { next.append(organizationID) }
            }
            open = next
        }
        return removed
    }

    /// Moves an object to the trash, or deletes it if the organization has no trash.
    func remove(
        _ object: CatalogObject, _ order: Order, _ grace: TrashGrace, at now: UnixTime, in connection: Connection
    ) throws {
        guard grace.days > 0 else { return try purge(object, order, at: now, in: connection) }
        try ObjectRecords(connection).trash(object, order, at: now)
        try outbox.record(
            .objectTrashed(object, reason: order.reason, traceparent: order.traceparent), at: now, in: connection)
    }

    /// Moves an object from the trash back to the lists.
    ///
    /// - Returns: the object outside the trash.
    func restore(
        _ object: CatalogObject, traceparent: String?, at now: UnixTime, in connection: Connection
    ) throws -> CatalogObject {
        var object = object
        try ObjectRecords(connection).restore(object, at: now)
        object.trashedAt = nil
        try outbox.record(.objectRestored(object, traceparent: traceparent), at: now, in: connection)
        return object
    }

    /// Deletes an object permanently.
    func purge(
        _ object: CatalogObject, _ order: Order, at now: UnixTime, in connection: Connection
    ) throws {
        try ObjectRecords(connection).bury(object, by: order.actor, reason: order.reason, at: now)
        try store.discard(uploadID: object.uploadID, in: connection)
        try outbox.record(
            .objectDeleted(object, reason: order.reason, traceparent: order.traceparent), at: now, in: connection)
    }
}
