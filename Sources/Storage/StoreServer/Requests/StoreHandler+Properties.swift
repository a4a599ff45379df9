import HTTPTypes
import ObjectStore
import StoreProtocol

/// The operations on buckets, and on properties of objects and buckets.
extension StoreHandler {
    func objectProperty(
        _ property: ObjectProperty, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let access = try request.requiredAccess
        try access.requireRead()
        return try responses.property(property, of: access.decided, request.signed, store, policy)
    }

    func putTags(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        let permit = try requireTags(request)
        let payload = try request.payload()
        let document = try DocumentBody(
            payload, store, maximumBytes: TagSet.maximumBytes, for: request.requiredAccess.claims.workOwner
        ) { document in
            try store.setTags(TagSet(xml: document.complete()), permit)
            return responses.empty(200)
        }
        return receive(payload, to: document, responses)
    }

    func deleteTags(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPResponse {
        try store.setTags(TagSet(), requireTags(request))
        return responses.empty(204)
    }

    private func requireTags(_ request: StoreRequest) throws -> WritePermit {
        guard try DirectObject.isDirect(uploadID: request.requiredAccess.claims.uploadID) else {
            throw StoreError(
                .accessDenied, "The tags of an upload are changed with the RPC UpdateObject, not with a static key."
            )
        }
        return try permit(request)
    }

    func headBucket(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPResponse {
        _ = try request.requiredBucket
        return responses.empty(200)
    }

    /// Returns the error for a bucket that exists.
    func createBucket(_ request: StoreRequest) throws -> StoreError {
        _ = try request.requiredBucket
        return StoreError(.bucketAlreadyOwnedByYou, "The bucket exists already, and it is yours.")
    }

    func deleteBucket(_ request: StoreRequest) throws -> StoreError {
        _ = try request.requiredBucket
        return StoreError(.accessDenied, "DeleteBucket: buckets are configured with object_store.buckets.")
    }

    func bucketProperty(
        _ property: BucketProperty, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        try responses.property(property, of: request.requiredBucket.bucket, store, configuration)
    }
}
