import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The operations on multipart uploads and their parts.
extension StoreHandler {
    func initiate(
        _ checksum: MultipartChecksum?, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let multipart = try store.initiateMultipart(permit(request), request.header(), checksum: checksum)
        return responses.initiated(multipart, request.signed.target)
    }

    func uploadPart(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        // Uploads of parts are never cached as proven requests.
        guard let part = request.access?.part else { throw StoreError.notImplemented(request.operation.name) }
        let permit = try permit(request)
        let payload = try part.payload.get()
        let upload = try PartUpload(store, permit: permit, start: part.start, checks: payload.checks)
        return receive(payload, to: PartReceiver(upload: upload, responses: responses), responses)
    }

    func listParts(
        of id: String, after marker: Int, limit: Int, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let access = try request.requiredAccess
        try access.requireRead()
        let page = try store.listParts(id, access.claims, after: marker, limit: limit)
        return responses.parts(
            page, of: id, request.signed.target, access.claims, after: marker, limit: limit)
    }

    func complete(
        _ id: String, all: Bool, _ expected: ExpectedObject, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        let access = try request.requiredAccess
        _ = try completed(id, access)
        let payload = try request.payload()
        let permit = WritePermit(claims: access.claims, policy: policy, origin: access.origin)
        let document = try DocumentBody(
            payload, store, maximumBytes: CompletionList.maximumBytes, for: access.claims.workOwner
        ) { document in
            // It may have been aborted, or completed by another request, while the document arrived.
            let done = try completed(id, access)
            let list = all ? nil : try CompletionList(xml: document.complete())
            if let done { return responses.completed(done) }
            return responses.completed(
                try store.completeMultipart(id, list, permit, etags: request.dialect.etags, expected: expected))
        }
        return receive(payload, to: document, responses)
    }

    /// Returns the object of a completed multipart upload; `nil` while it is open.
    ///
    /// Refuses an upload that does not exist, and an open one that the credentials may not write. Called before the document of a
    /// Complete is received, and again before it is parsed.
    private func completed(_ id: String, _ access: StoreAccess) throws -> StoredObject? {
        if let done = try store.completed(id, access.claims) { return done }
        _ = try access.requireWrite(policy)
        return nil
    }

    func abort(_ id: String, _ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPResponse {
        let access = try request.requiredAccess
        // 404 takes precedence over 403: a client without the response of its Complete sends this with any credentials.
        _ = try store.openMultipart(id, access.claims)
        _ = try access.requireWrite(policy)
        try store.abortMultipart(id, access.claims)
        return responses.empty(204)
    }
}

/// The body of an UploadPart.
private struct PartReceiver: StoreBodyReceiver {
    let upload: PartUpload
    let responses: StoreResponses

    func receive(_ bytes: UnsafeRawBufferPointer) { upload.receive(bytes) }

    func finish() throws -> HTTPResponse {
        let record = try upload.finish()
        let etag = ETag.whole(md5: record.md5, responses.dialect.etags)
        return responses.stored(etag: etag, crc64: record.crc64, record.checksum)
    }

    func abandon() { upload.abandon() }
}
