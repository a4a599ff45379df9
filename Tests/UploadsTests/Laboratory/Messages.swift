import Basics
import DeviceClient
import Proto
import RPC
import StoreClient
import StoreProtocol
import Wire

/// A request of a device to the gateway or to its store.
enum Call {
    case create(restartFrom: String, key: String?)
    case recovery(logicalID: String)
    case reissue(uploadID: String)
    case complete(CompleteUploadRequest)
    case abort(logicalID: String)
    case head(UploadAttempt)
    case put(UploadAttempt)
    case initiate(UploadAttempt)
    case part(UploadAttempt, multipart: String, PartRange)
    case list(UploadAttempt, multipart: String)
    case join(UploadAttempt, multipart: String, [StorePart])

    /// The attempt whose credentials sign it; `nil` for a call to the gateway.
    var attempt: UploadAttempt? {
        switch self {
        case .head(let attempt), .put(let attempt), .initiate(let attempt), .part(let attempt, _, _),
            .list(let attempt, _), .join(let attempt, _, _):
            attempt
        case .create, .recovery, .reissue, .complete, .abort: nil
        }
    }

    /// The method of the gateway's service; unused for requests to the store.
    var method: MethodDescriptor {
        switch self {
        case .create: DataGatewayServiceMethods.createLogicalUpload
        case .recovery: DataGatewayServiceMethods.getUploadRecovery
        case .reissue: DataGatewayServiceMethods.reissueUploadCredentials
        case .complete: DataGatewayServiceMethods.completeUpload
        default: DataGatewayServiceMethods.abortUpload
        }
    }

    /// Whether its body takes some time, during which anything may happen.
    var hasBody: Bool {
        switch self {
        case .put, .part: true
        default: false
        }
    }
}

/// A call in transit.
struct Request {
    let call: Call
    let credentials: TemporaryCredentials?
}

enum Reply {
    case created(CreateLogicalUploadResponse)
    case recovery(GetUploadRecoveryResponse)
    case reissued(ReissueUploadCredentialsResponse)
    case completed
    case aborted
    /// The object's properties; `nil` if there is no object.
    case head((size: Int64, etag: String, crc64: UInt64)?)
    case put(etag: String)
    case initiated(multipart: String)
    case part(StorePart)
    case parts([StorePart])
    case joined(etag: String)
    /// A `CallFailure` or a `StoreRefusal`.
    case failed(any Error)
}

/// A message in transit. It may be lost, duplicated, or overtake others; after ten minutes its connection is closed.
struct Message {
    enum Content {
        case request(Request)
        /// The rest of a request whose beginning has arrived: the end of its body.
        case rest(Call)
        case reply(Reply)
    }

    static let lifetimeSeconds: Int64 = 600

    /// The number of the request; its reply has the same number.
    let call: Int
    /// The number of this copy.
    let id: Int
    let sentAt: UnixTime
    /// The number of events before which it does not arrive.
    var arrivesAfter = 0
    var content: Content
}

// MARK: as the trace shows them

extension Call: CustomStringConvertible {
    var description: String {
        switch self {
        case .create(let former, let key):
            "CreateLogicalUpload(\(former.isEmpty ? "" : "restart from \(former.tail), ")\(key == nil ? "no key" : "key"))"
        case .recovery: "GetUploadRecovery"
        case .reissue(let id): "ReissueUploadCredentials(\(id.tail))"
        case .complete(let request): "CompleteUpload(\(request.uploadID.tail))"
        case .abort: "AbortUpload"
        case .head(let attempt): "HeadObject(\(attempt.upload.tail))"
        case .put(let attempt): "PutObject(\(attempt.upload.tail))"
        case .initiate(let attempt): "InitiateMultipartUpload(\(attempt.upload.tail))"
        case .part(let attempt, let multipart, let range):
            "UploadPart(\(attempt.upload.tail), \(multipart.tail), \(range.number))"
        case .list(_, let multipart): "ListParts(\(multipart.tail))"
        case .join(_, let multipart, let parts): "CompleteMultipartUpload(\(multipart.tail), \(parts.count) parts)"
        }
    }
}

extension Reply: CustomStringConvertible {
    var description: String {
        switch self {
        case .created(let reply): "upload \(reply.uploadID.tail)"
        case .recovery(let reply): "\(reply.nextAction) \(reply.currentUploadID.tail)"
        case .reissued(let reply): "credentials of \(reply.uploadID.tail)"
        case .completed: "completed"
        case .aborted: "aborted"
        case .head(let object): object.map { "\($0.size) bytes" } ?? "no object"
        case .put: "stored"
        case .initiated(let multipart): "multipart \(multipart.tail)"
        case .part(let part): "part \(part.number) stored"
        case .parts(let parts): "parts \(parts.map(\.number))"
        case .joined: "joined"
        case .failed(let error as CallFailure): "\(error.status.code.name) \(error.status.message)"
        case .failed(let error): "\(error)"
        }
    }
}

extension String {
    /// The end of an id, which distinguishes it from others in a trace.
    var tail: String { String(suffix(4)) }
}
