import HTTPTypes
import ObjectStore
import StoreProtocol

/// The lists of buckets, objects and multipart uploads.
extension StoreHandler {
    func listBuckets(
        _ query: BucketListQuery, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        guard let key = request.staticKey else { throw StoreError.notImplemented(request.operation.name) }
        return responses.buckets(store.buckets(of: key), query, store)
    }

    func listObjects(
        _ query: ObjectListQuery, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let (key, bucket) = try request.requiredBucket
        try request.requireList(query.prefix, of: bucket, for: key)
        let list = try store.list(query.below(bucket.prefix), for: key, policy: policy)
        return responses.objects(list, query, bucket)
    }

    func listMultiparts(
        _ query: MultipartListQuery, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let (key, bucket) = try request.requiredBucket
        try request.requireList(query.prefix, of: bucket, for: key)
        let list = try store.listMultiparts(query.below(bucket.prefix), bucket: bucket.stored, for: key)
        return responses.multiparts(list, query, bucket)
    }
}
