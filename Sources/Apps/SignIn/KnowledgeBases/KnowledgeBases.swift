import Accounts
import AppProto
import AppSupport
import Basics
import Capability
import Crypto
import Database
import GRPCWire
import RPC

/// The knowledge bases of users. The owner is always the caller: a request cannot name another one.
struct KnowledgeBases: Sendable {
    /// The largest number for one user, also deleted ones.
    private static let most = 1000
    private static let titleLength = 1...100
    private static let descriptionLength = 0...1000

    let store: ProfileStore
    let deletedRetention: Duration
    let writes: WriteLimit

    func all(_ context: CallContext) async throws -> [KnowledgeBase] {
        let caller = try await store.caller(context)
        return try await store.database.readInBackground { try KnowledgeBaseRecords($0).all(userID: caller.user.id) }
            .map { $0.message(of: caller.profile) }
    }

    func find(_ id: String, _ context: CallContext) async throws -> KnowledgeBase {
        let caller = try await store.caller(context)
        return try await store.database.read { connection in
            try Self.base(id, of: caller, in: connection).message(of: caller.profile)
        }
    }

    func create(title: String, description: String, _ context: CallContext) async throws -> KnowledgeBase {
        try Self.check(title: title, description: description)
        let caller = try await store.caller(context)
        try writes.count(caller.user.id)
        let now = store.clock.now()
        let base = KnowledgeBaseRecord(
            id: "kb_" + Random.hex(12), userID: caller.user.id, title: title, description: description,
            createdAt: now, updatedAt: now)
        try await store.database.write { connection in
            let records = KnowledgeBaseRecords(connection)
            guard try records.count(userID: base.userID) < Self.most else {
                throw RPCError(
                    bare: .resourceExhausted, "a user may have at most \(Self.most) knowledge bases")
            }
            try records.insert(base)
        }
        return base.message(of: caller.profile)
    }

    /// - Parameters: a value that is `nil` stays unchanged.
    func update(
        _ id: String, title: String?, description: String?, _ context: CallContext
    ) async throws -> KnowledgeBase {
        try Self.check(title: title, description: description)
        return try await change(id, context) { base in
            base.title = title ?? base.title
            base.description = description ?? base.description
        }
    }

    func delete(_ id: String, _ context: CallContext) async throws {
        _ = try await change(id, context) { $0.deletedAt = $0.updatedAt }
    }

    /// The removal of knowledge bases that were deleted long ago.
    var sweep: Sweep {
        Sweep("knowledge_bases") { [store, deletedRetention] permit in
            let end = try permit.now().subtracting(deletedRetention)
            guard try await store.database.read({ try KnowledgeBaseRecords($0).hasDeleted(before: end) }) else {
                return 0
            }
            return try await store.database.write(mayUseReserve: true) { connection in
                try KnowledgeBaseRecords(connection).remove(
                    deletedBefore: try permit.now().subtracting(deletedRetention))
            }
        }
    }

    private func change(
        _ id: String, _ context: CallContext, _ change: @escaping @Sendable (inout KnowledgeBaseRecord) -> Void
    ) async throws -> KnowledgeBase {
        let caller = try await store.caller(context)
        try writes.count(caller.user.id)
        let now = store.clock.now()
        return try await store.database.write(mayUseReserve: true) { connection in
            var base = try Self.base(id, of: caller, in: connection)
            base.updatedAt = now
            change(&base)
            try KnowledgeBaseRecords(connection).update(base)
            return base.message(of: caller.profile)
        }
    }

    /// - Throws: NOT_FOUND, also for a knowledge base of another user.
    private static func base(
        _ id: String, of caller: ProfileStore.Member, in connection: ReadConnection
    ) throws -> KnowledgeBaseRecord {
        guard let base = try KnowledgeBaseRecords(connection).find(id: id, userID: caller.user.id) else {
            throw RPCError.notFound("资源不存在")
        }
        return base
    }

    private static func check(title: String?, description: String?) throws(RPCError) {
        if let title { try ProfileText.check(title, "title", in: titleLength) }
        if let description { try ProfileText.check(description, "description", in: descriptionLength) }
    }
}

extension KnowledgeBaseRecord {
    /// - Parameter withDeletion: whether the message says when the knowledge base was deleted.
    func message(of owner: ProfileRecord, withDeletion: Bool = false) -> KnowledgeBase {
        KnowledgeBase(
            id: id, userID: owner.publicID, title: title, description: description,
            createdAt: RFC3339.text(createdAt), updatedAt: RFC3339.text(updatedAt),
            deletedAt: withDeletion ? deletedAt.map { RFC3339.text($0) } : nil)
    }
}
