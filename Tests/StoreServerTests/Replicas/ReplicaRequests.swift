import Crypto
import HTTPTypes

@testable import ObjectStore
@testable import StoreProtocol

/// A request of a schedule.
enum ReplicaRequest: Sendable {
    case initiate(String)
    case part(Int, upload: Int, [UInt8])
    /// The numbers of the listed parts; `nil` = all that are stored.
    case complete(upload: Int, [Int]?)
    case abort(upload: Int)
    case put(String, [UInt8])
    case copy(String, to: String)
    case append(String, [UInt8])
    case delete(String)

    /// The number of calls of the database before the one that reads what is to be replaced.
    var callsBeforeBase: Int {
        switch self {
        case .copy, .append: 1
        default: 0
        }
    }
}

/// A multipart upload of a schedule.
struct ReplicaUpload: Sendable {
    enum State { case open, completed, ended }

    let name: String
    let id: String
    var state = State.open
    var parts: [Int: Stored] = [:]
    /// The numbers that a Complete did not list, which it drops even if it fails later.
    var unlisted: Set<Int> = []
}

extension Replicas {
    /// Deletes objects by one request.
    func deleteAll(_ names: [String], at replica: Int) throws {
        let key = StaticKey(id: "key", secret: Secret("secret"), bucket: "bucket", prefix: "", access: .write)
        let items = names.map { DirectDeletion(key: key, name: "uploads/\($0)", condition: .none) }
        _ = try stores[replica].delete(items, policy, WriteOrigin(operation: "DeleteObjects", peer: "192.0.2.1"))
    }

    /// Runs a request to its end.
    ///
    /// - Returns: the id of a new multipart upload.
    func run(
        _ request: ReplicaRequest, at replica: Int, _ upload: ReplicaUpload?
    ) throws -> String? {
        let store = stores[replica]
        switch (request, upload) {
        case (.initiate(let name), _):
            return try store.initiateMultipart(permit(name), checksum: nil).id
        case (.part(let number, _, let body), let upload?):
            let start = store.startPart(number, of: upload.id, length: Int64(body.count))
            _ = try store.decide(claims(upload.name), policy, part: start)
            let part = try PartUpload(store, permit: permit(upload.name), start: start, checks: BodyChecks())
            body.withUnsafeBytes(part.receive)
            _ = try part.finish()
        case (.complete(_, let numbers), let upload?):
            let list = try numbers.map { numbers in
                let parts = numbers.map { number in
                    "<Part><PartNumber>\(number)</PartNumber><ETag>\(upload.parts[number]?.etag ?? "")</ETag></Part>"
                }
                let document = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
                return try CompletionList(xml: Array(document.utf8))
            }
            _ = try store.completeMultipart(upload.id, list, permit(upload.name), etags: .oss)
        case (.abort, let upload?): try store.abortMultipart(upload.id, claims(upload.name))
        case (.put(let name, let body), _):
            let put = try ObjectPut(
                store, permit: permit(name), length: Int64(body.count), checks: BodyChecks(), header: ObjectHeader())
            body.withUnsafeBytes(put.receive)
            _ = try put.finish()
        case (.copy(let source, let name), _):
            let access = try store.decide(claims(source), policy, readsObject: true)
            _ = try store.copy(access, to: permit(name), conditions: Preconditions([:])) {
                ObjectHeader(contentType: $0.contentType, kept: $0.kept)
            }
        case (.delete(let name), _):
            let access = try store.decide(claims(name), policy, readsObject: true)
            if let object = access.object { try store.delete(permit(name), found: object) }
        case (.append(let name, let body), _):
            let size = try object(name)?.size ?? 0
            let append = try ObjectAppend(
                store, permit: permit(name), at: size, Payload(length: Int64(body.count), checks: BodyChecks()),
                header: ObjectHeader())
            body.withUnsafeBytes(append.receive)
            _ = try append.finish()
        case (.part, nil), (.complete, nil), (.abort, nil): preconditionFailure("a request needs its upload")
        }
        return nil
    }
}
