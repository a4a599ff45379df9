import Accounts
import Basics
import Database
import GatewayAPI
import RPC
import Webhooks

/// A change of an object's tags.
struct TagChange: Sendable {
    let added: [String: String]
    /// Whether `added` replaces all existing tags.
    let replacesAll: Bool
    /// The keys of tags to remove.
    let removed: [String]

    /// - Throws: INVALID_ARGUMENT that names the field and the rule.
    func check() throws(RPCError) {
        guard replacesAll || !added.isEmpty || !removed.isEmpty else {
            throw .invalidArgument("tags or remove_tags must not be empty, unless replace_tags is set")
        }
        try TagRules.check(added, field: "tags", maximum: TagRules.maximumOfObject)
        guard removed.count <= TagRules.maximumOfObject else {
            throw .invalidArgument(
                "remove_tags must have at most \(TagRules.maximumOfObject) entries, not \(removed.count)")
        }
        if let key = removed.first(where: { added[$0] != nil }) {
            throw .invalidArgument("remove_tags and tags must not both have the key \(key)")
        }
    }

    func applied(to tags: [String: String]) -> [String: String] {
        var changed = replacesAll ? added : tags.merging(added) { _, new in new }
        for key in removed { changed[key] = nil }
        return changed
    }
}

/// The rules of UpdateObject.
struct TagEditing: Sendable {
    let database: Database
    let clock: any WallClock
    let outbox: Outbox

    /// Changes the tags, and the object's rows for search and facets, in one transaction. Without a difference, no event is sent.
    func update(_ fileID: String, _ change: TagChange, by caller: Caller) async throws -> ListedObject {
        try change.check()
        let now = clock.now()
        return try await database.write { connection in
            let records = ObjectRecords(connection)
            guard let (position, object) = try records.placedObject(id: fileID, scope: caller.organization.id) else {
                throw RPCError.notFound("organization \(caller.organization.name) has no file \(fileID)")
            }
            guard object.trashedAt == nil else {
                throw RPCError.failedPrecondition("file \(fileID) is in the trash: restore it first")
            }
            let current = try records.tags(position: position)
            let tags = change.applied(to: current)
            guard tags != current else { return ListedObject(object: object, tags: tags) }
            try TagRules.check(tags, field: "tags", maximum: TagRules.maximumOfObject)
            try records.setTags(tags, of: object, at: position)
            try Audit.record(caller.did(to: "objects/\(object.fileID)"), at: now, in: connection)
            try outbox.record(
                .objectUpdated(object, tags: tags, traceparent: caller.traceparent), at: now, in: connection)
            return ListedObject(object: object, tags: tags)
        }
    }
}
