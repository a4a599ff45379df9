import Network
import Platform

/// OSS's HTTP surface: authenticates a request, reads what it asks for, and has the store do it.
struct StoreHandler: HTTPRequestHandler {
    let store: ObjectStore
    let policy: any AccessPolicy
    let configuration: ObjectStoreServer.Configuration

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let answers = StoreAnswers(head)
        do {
            let target = try RequestTarget(
                head.target, host: head.fields["host"] ?? "", domains: configuration.bucketDomains)
            let request = SignedRequest(method: head.method, target: target, fields: head.fields)
            let access = try StoreAccess.check(
                request, store: store, policy: policy, maximumClockSkew: configuration.maximumClockSkew)
            return try perform(StoreOperation(request), head, request, access, answers)
        } catch {
            return .respond(failed(error, answers))
        }
    }

    private func perform(
        _ operation: StoreOperation, _ head: HTTPRequestHead, _ request: SignedRequest, _ access: StoreAccess,
        _ answers: StoreAnswers
    ) throws -> HTTPDisposition {
        switch operation {
        case .getObject, .headObject:
            try access.requireRead()
            let object = try store.object(access.claims)
            return .respond(try answers.object(object, store.data, asked: head.fields))
        case .listParts(let id, let marker, let limit):
            try access.requireRead()
            let page = try store.listParts(id, access.claims, after: marker, limit: limit)
            return .respond(
                answers.parts(page, of: id, request.target, access.claims, after: marker, limit: limit))
        case .initiateMultipart:
            let permit = try access.requireWrite(policy)
            let multipart = try store.initiateMultipart(permit, contentType: head.fields["content-type"])
            return .respond(answers.initiated(multipart, request.target))
        case .abortMultipart(let id):
            // 404 goes before 403: a client that lost the answer of its Complete asks this with whatever it has.
            _ = try store.openMultipart(id, access.claims)
            _ = try access.requireWrite(policy)
            try store.abortMultipart(id, access.claims)
            return .respond(answers.empty(204))
        case .putObject:
            let put = try ObjectPut(
                store, permit: try access.requireWrite(policy), length: head.framing.length,
                contentMD5: try Self.contentMD5(head), contentType: head.fields["content-type"])
            return body(answers, take: put.receive, leave: put.abandon) {
                let object = try put.finish()
                return answers.stored(etag: object.etag, crc64: object.crc64)
            }
        case .uploadPart(let number, let id):
            let part = try PartUpload(
                store, permit: try access.requireWrite(policy), multipart: try store.openMultipart(id, access.claims),
                number: number,
                length: head.framing.length, contentMD5: try Self.contentMD5(head))
            return body(answers, take: part.receive, leave: part.abandon) {
                let record = try part.finish()
                return answers.stored(etag: record.etag, crc64: record.crc64)
            }
        case .completeMultipart(let id, let all):
            let document = CompletionBody()
            let permit = WritePermit(claims: access.claims, policy: policy)
            return body(answers, take: document.receive, leave: {}) {
                let list = all ? nil : try document.list()
                // Without the right to write, only what is completed already can be completed.
                if let done = try store.completed(id, access.claims) { return answers.completed(done) }
                _ = try access.requireWrite(policy)
                return answers.completed(try store.completeMultipart(id, list, permit))
            }
        }
    }

    private func body(
        _ answers: StoreAnswers, take: @escaping (UnsafeRawBufferPointer) -> Void, leave: @escaping () -> Void,
        complete: @escaping () throws -> HTTPResponse
    ) -> HTTPDisposition {
        .receive(
            StoreBody(
                take: take,
                complete: {
                    do {
                        return try complete()
                    } catch {
                        return failed(error, answers)
                    }
                }, leave: leave))
    }

    private func failed(_ error: any Error, _ answers: StoreAnswers) -> HTTPResponse {
        let failure = StoreError(error)
        if failure.code.status >= 500 {
            configuration.report(answers.requestID, error)
        }
        return answers.error(failure)
    }

    /// The 16 bytes that the body must hash to; nil where the client sent none.
    private static func contentMD5(_ head: HTTPRequestHead) throws(StoreError) -> [UInt8]? {
        guard let text = head.fields["content-md5"] else { return nil }
        guard let digest = Base64.decode(text), digest.count == 16 else {
            throw StoreError(.badDigest, "The Content-MD5 you specified is not valid.")
        }
        return digest
    }
}

/// The document of a Complete while it arrives.
private final class CompletionBody {
    private var bytes: [UInt8] = []

    func receive(_ piece: UnsafeRawBufferPointer) {
        // One byte too many is enough to be refused by the reader.
        bytes.append(contentsOf: piece.prefix(CompletionList.maximumBytes + 1 - bytes.count))
    }

    func list() throws(StoreError) -> CompletionList {
        try CompletionList(xml: bytes)
    }
}

extension HTTPRequestHead.Framing {
    /// Bytes of the body; nil where they are not declared.
    fileprivate var length: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}
