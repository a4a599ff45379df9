import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The operations on objects, except copies and multipart uploads.
extension StoreHandler {
    func get(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPResponse {
        let access = try request.requiredAccess
        try access.requireRead()
        let overrides = try ResponseOverrides(request.signed.target)
        return try store.withObject(access.decided) { object in
            if request.operation.command == .getObject { try object.requireIntact() }
            let part = try objectPart(of: object, request.signed)
            let options = request.dialect.options(of: request.signed)
            return try responses.object(object, store, requestFields: options, overrides, part: part)
        }
    }

    /// Returns the part that a GET or HEAD requests; `nil` = the whole object.
    private func objectPart(of object: StoredObject, _ request: SignedRequest) throws -> ObjectPart? {
        guard request.target.has("partNumber") else { return nil }
        guard request.fields["range"] == nil else {
            throw StoreError(.invalidRequest, "A request with a partNumber must not have a Range field.")
        }
        guard let number = request.target["partNumber"].flatMap({ Int(decimal: $0) }), (1...10_000).contains(number)
        else {
            throw ObjectStoreError.invalidPartNumber
        }
        let parts = try store.parts(of: object)
        guard number <= max(1, parts.count) else {
            throw StoreError(.invalidPartNumber, "The object's number of parts is \(max(1, parts.count)).")
        }
        // A range cannot be empty: an empty object is sent without a range.
        guard object.size > 0 else { return nil }
        guard !parts.isEmpty else { return ObjectPart(range: 0..<object.size, count: 1, checksum: object.checksum) }
        let start = parts.prefix(number - 1).reduce(0) { $0 + $1.size }
        let part = parts[number - 1]
        return ObjectPart(range: start..<start + part.size, count: parts.count, checksum: part.checksum)
    }

    func put(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        let permit = try permit(request)
        let payload = try request.payload()
        let put = try ObjectPut(
            store, permit: permit, length: payload.length, checks: payload.checks, header: try request.header())
        return receive(payload, to: PutBody(put: put, responses: responses), responses)
    }

    func append(
        at position: Int64, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        let permit = try permit(request)
        let payload = try request.payload()
        let append = try ObjectAppend(store, permit: permit, at: position, payload, header: request.header())
        return receive(payload, to: AppendBody(append: append, responses: responses), responses)
    }

    /// Deletes an object; a missing one counts as deleted.
    func delete(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPResponse {
        let access = try request.requiredAccess
        if let key = request.staticKey { try request.requireWrite(by: key) }
        guard case .allowed = access.decided.decision else { throw ObjectStoreError.uploadIsReadOnly }
        let condition = try WriteCondition(request.signed.fields)
        if access.decided.object != nil || !condition.isNone {
            let permit = WritePermit(claims: access.claims, policy: policy, origin: access.origin)
            try store.delete(permit, condition, found: access.decided.object)
        }
        return responses.empty(204)
    }

    func deleteObjects(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        let (key, bucket) = try request.requiredBucket
        try request.requireWrite(by: key)
        let payload = try request.payload()
        let encodesKeys = request.signed.target["encoding-type"] == "url"
        let document = try DocumentBody(
            payload, store, maximumBytes: DeletionList.maximumBytes, for: .staticKey(key.id)
        ) { document in
            let list = try DeletionList(xml: document.complete())
            var results = [ObjectStore.DeletionResult](repeating: .deleted, count: list.items.count)
            var permitted: [(place: Int, item: DirectDeletion)] = []
            for (place, item) in list.items.enumerated() {
                do throws(StoreError) {
                    permitted.append((place, try deletion(of: item, in: bucket, by: key, request)))
                } catch {
                    results[place] = .refused(error)
                }
            }
            let origin = WriteOrigin(operation: request.operation.name.rawValue, peer: request.head.peer)
            for (entry, result) in zip(permitted, try store.delete(permitted.map(\.item), policy, origin)) {
                results[entry.place] = result
            }
            return responses.deleted(zip(list.items, results).map { ($0, $1) }, list, encodesKeys: encodesKeys)
        }
        return receive(payload, to: document, responses)
    }

    private func deletion(
        of item: DeletionList.Item, in bucket: StoreBucket, by key: StaticKey, _ request: StoreRequest
    ) throws(StoreError) -> DirectDeletion {
        guard !item.namesOtherVersion else { throw StoreError(.noSuchVersion, "The store keeps no versions.") }
        if let condition = item.otherCondition {
            throw .notImplemented("DeleteObjects with \(condition)", "Use ETag.")
        }
        try ObjectName.requireKey(item.key)
        let stored = try request.stored(item.key, in: bucket, for: key)
        let fields: HTTPFields = item.etag.map { ["if-match": $0] } ?? [:]
        return DirectDeletion(key: key, name: stored, condition: try WriteCondition(fields))
    }
}

/// The body of a PutObject.
private struct PutBody: StoreBodyReceiver {
    let put: ObjectPut
    let responses: StoreResponses

    func receive(_ bytes: UnsafeRawBufferPointer) { put.receive(bytes) }

    func finish() throws -> HTTPResponse {
        let object = try put.finish()
        return responses.stored(etag: object.etag, crc64: object.crc64, object.checksum)
    }

    func abandon() { put.abandon() }
}

/// The body of an AppendObject.
private struct AppendBody: StoreBodyReceiver {
    let append: ObjectAppend
    let responses: StoreResponses

    func receive(_ bytes: UnsafeRawBufferPointer) { append.receive(bytes) }

    func finish() throws -> HTTPResponse {
        let object = try append.finish()
        let fields: HTTPFields = ["x-oss-next-append-position": String(object.size), "ETag": object.etag]
        return responses.empty(
            200, fields.appending(responses.dialect.fields(ofStored: object.crc64, object.checksum)))
    }

    func abandon() { append.abandon() }
}
