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

/// The measure of the tags of an object for quotas: their bytes in the database.
///
/// A tag has a row in `object_tags` and in its index by value, and rows in `object_prefixes` and `object_facets`, so that it takes
/// several times its length. The numbers were measured with tags whose values occur once; those of tags that many objects share take
/// less. A row longer than a quarter of a page has a page of 4 KiB of its own in each table.
enum TagCost {
    /// The largest value, in bytes, that has facets: longer ones take rows in two more tables, and nobody chooses among them.
    static let longestFacet = 256
    /// The size of key and value from which a row needs a page of its own.
    private static let pageOfItsOwn = 990

    /// Returns the cost of all tags in bytes.
    static func bytes(of tags: [String: String]) -> Int {
        tags.reduce(0) { $0 + bytes(ofTag: $1.key, $1.value) }
    }

    private static func bytes(ofTag key: String, _ value: String) -> Int {
        let size = key.utf8.count + value.utf8.count
        if !hasFacet(value) { return size < pageOfItsOwn ? 300 + 3 * size : 10_000 }
        return 150 + 8 * size
    }

    /// Whether objects are counted by the value of a tag.
    static func hasFacet(_ value: some StringProtocol) -> Bool { value.utf8.count <= longestFacet }
}
