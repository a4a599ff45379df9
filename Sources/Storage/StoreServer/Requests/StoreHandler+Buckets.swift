import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The requests of static keys on buckets.
extension StoreHandler {
    func perform(onBucket keyRequest: StaticKeyRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        switch keyRequest.operation.command {
        case .headBucket: return .respond(responses.empty(200))
        case .createBucket:
            throw StoreError(.bucketAlreadyOwnedByYou, "The bucket exists already, and it is yours.")
        case .deleteBucket:
            throw StoreError(.accessDenied, "DeleteBucket: buckets are configured with object_store.buckets.")
        case .bucketProperty(let property):
            return .respond(try responses.property(property, of: keyRequest.bucket, store, configuration))
        case .listObjects(let query):
            try keyRequest.requireList(query.prefix)
            let list = try store.list(query.below(keyRequest.bucket.prefix), for: keyRequest.key, policy: policy)
            return .respond(responses.objects(list, query, keyRequest.bucket))
        case .listMultiparts(let query):
            try keyRequest.requireList(query.prefix)
            let list = try store.listMultiparts(
                query.below(keyRequest.bucket.prefix), bucket: keyRequest.bucket.stored, for: keyRequest.key)
            return .respond(responses.multiparts(list, query, keyRequest.bucket))
        case .deleteObjects: return try deleteObjects(keyRequest, responses)
        default:
            throw StoreError.notImplemented(keyRequest.operation.name)
        }
    }

    private func deleteObjects(_ keyRequest: StaticKeyRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        try keyRequest.requireWrite()
        let payload = try responses.dialect.payload(
            of: keyRequest.request, keyRequest.head.framing, keyRequest.signatures)
        let document = try DocumentBody(
            payload, store, maximumBytes: DeletionList.maximumBytes, for: .staticKey(keyRequest.key.id))
        let encodesKeys = keyRequest.request.target["encoding-type"] == "url"
        return body(payload, responses, take: document.receive, leave: {}) {
            let list = try DeletionList(xml: document.finish())
            var results = [ObjectStore.DeletionResult](repeating: .deleted, count: list.items.count)
            var permitted: [(place: Int, item: DirectDeletion)] = []
            for (place, item) in list.items.enumerated() {
                do throws(StoreError) {
                    permitted.append((place, try deletion(of: item, keyRequest)))
                } catch {
                    results[place] = .refused(error)
                }
            }
            for (entry, result) in zip(permitted, try store.delete(permitted.map(\.item), policy, keyRequest.origin)) {
                results[entry.place] = result
            }
            return responses.deleted(zip(list.items, results).map { ($0, $1) }, list, encodesKeys: encodesKeys)
        }
    }

    private func deletion(of item: DeletionList.Item, _ keyRequest: StaticKeyRequest) throws(StoreError)
        -> DirectDeletion
    {
        guard !item.namesOtherVersion else { throw StoreError(.noSuchVersion, "The store keeps no versions.") }
        if let condition = item.otherCondition {
            throw .notImplemented("DeleteObjects with \(condition)", "Use ETag.")
        }
        try ObjectName.requireKey(item.key)
        let stored = try keyRequest.stored(item.key, in: keyRequest.bucket)
        let fields: HTTPFields = item.etag.map { ["if-match": $0] } ?? [:]
        return DirectDeletion(key: keyRequest.key, name: stored, condition: try WriteCondition(fields))
    }
}
