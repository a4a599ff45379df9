import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The requests of static keys on buckets.
extension StoreHandler {
    func perform(onBucket asked: StaticKeyRequest, _ answers: StoreAnswers) throws -> HTTPDisposition {
        switch asked.operation {
        case .headBucket: return .respond(answers.empty(200))
        case .createBucket:
            throw StoreError(.bucketAlreadyOwnedByYou, "The bucket exists already, and it is yours.")
        case .deleteBucket:
            throw StoreError(.accessDenied, "DeleteBucket: buckets are configured with object_store.buckets.")
        case .bucketProperty(let property):
            return .respond(try answers.property(property, of: asked.bucket, store, configuration))
        case .listObjects(let query):
            try asked.requireList(query.prefix)
            let list = try store.list(query.below(asked.bucket.prefix), for: asked.key, policy: policy)
            return .respond(answers.objects(list, query, asked.bucket))
        case .listMultiparts(let query):
            try asked.requireList(query.prefix)
            let list = try store.listMultiparts(
                query.below(asked.bucket.prefix), bucket: asked.bucket.stored, for: asked.key)
            return .respond(answers.multiparts(list, query, asked.bucket))
        case .deleteObjects: return try deleteObjects(asked, answers)
        default:
            throw StoreError.notImplemented(asked.operation.name)
        }
    }

    private func deleteObjects(_ asked: StaticKeyRequest, _ answers: StoreAnswers) throws -> HTTPDisposition {
        try asked.requireWrite()
        let payload = try answers.dialect.payload(of: asked.request, asked.head.framing, asked.signatures)
        let document = try DocumentBody(
            payload, store, maximumBytes: DeletionList.maximumBytes, for: .staticKey(asked.key.id))
        let encodesKeys = asked.request.target["encoding-type"] == "url"
        return body(payload, answers, take: document.receive, leave: {}) {
            let list = try DeletionList(xml: document.finish())
            var results = [ObjectStore.DeletionResult](repeating: .deleted, count: list.items.count)
            var permitted: [(place: Int, item: DirectDeletion)] = []
            for (place, item) in list.items.enumerated() {
                do throws(StoreError) {
                    permitted.append((place, try deletion(of: item, asked)))
                } catch {
                    results[place] = .refused(error)
                }
            }
            for (entry, result) in zip(permitted, try store.delete(permitted.map(\.item), policy, asked.origin)) {
                results[entry.place] = result
            }
            return answers.deleted(zip(list.items, results).map { ($0, $1) }, list, encodesKeys: encodesKeys)
        }
    }

    private func deletion(of item: DeletionList.Item, _ asked: StaticKeyRequest) throws(StoreError) -> DirectDeletion {
        guard !item.namesOtherVersion else { throw StoreError(.noSuchVersion, "The store keeps no versions.") }
        if let condition = item.otherCondition {
            throw .notImplemented("DeleteObjects with \(condition)", "Use ETag.")
        }
        try ObjectName.requireKey(item.key)
        let stored = try asked.stored(item.key, in: asked.bucket)
        let fields: HTTPFields = item.etag.map { ["if-match": $0] } ?? [:]
        return DirectDeletion(key: asked.key, name: stored, condition: try WriteCondition(fields))
    }
}
