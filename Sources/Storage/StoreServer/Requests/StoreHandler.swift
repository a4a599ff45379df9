import Basics
import HTTPServer
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The store's HTTP interface: executes the operation of each request that ``StoreAdmission`` admits.
struct StoreHandler: HTTPRequestHandler {
    let store: ObjectStore
    let policy: any AccessPolicy
    let configuration: StoreServerConfiguration
    let log: Logger
    let admission: StoreAdmission

    init(store: ObjectStore, policy: any AccessPolicy, configuration: StoreServerConfiguration, log: Logger) {
        self.store = store
        self.policy = policy
        self.configuration = configuration
        self.log = log
        admission = StoreAdmission(store: store, policy: policy, configuration: configuration)
    }

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let known = admission.proven(head)
        let dialect = known?.dialect ?? dialect(of: head)
        var responses = StoreResponses(head, dialect, origins: configuration.corsOrigins)
        head.notes.dialect = dialect.name
        if head.method == "OPTIONS", head.fields["access-control-request-method"] != nil {
            head.notes.operation = "Preflight"
            return .respond(responses.preflight())
        }
        if head.method == "POST", let form = FormUpload(self, head, responses) { return .receive(form) }
        do {
            if let known { return try perform(admission.admit(head, again: known), responses) }
            let target = try RequestTarget(
                head.target, host: head.fields["host"] ?? "", domains: configuration.bucketDomains)
            // Clients that look for the region ask without a signature.
            responses.namesRegion = target.scope == .bucket && (head.method == "HEAD" || dialect.etags == .s3)
            let request = try admission.admit(head, to: target, in: dialect)
            responses.bucket = request.bucket
            do {
                return try perform(request, responses)
            } catch {
                // No commit will record it.
                if let access = request.access, access.commitRecordsActivity {
                    try? store.recordActivity(access.claims, policy)
                }
                throw error
            }
        } catch {
            return .respond(failed(error, responses))
        }
    }

    private func dialect(of head: HTTPRequestHead) -> any StoreDialect {
        S3Dialect.isUsed(by: head) ? S3Dialect(publicAuthority: configuration.publicAuthority) : OSSDialect()
    }

    private func perform(_ request: StoreRequest, _ responses: StoreResponses) throws -> HTTPDisposition {
        switch request.operation.command {
        case .getObject, .headObject: .respond(try get(request, responses))
        case .putObject: try put(request, responses)
        case .appendObject(let position): try append(at: position, request, responses)
        case .deleteObject: .respond(try delete(request, responses))
        case .deleteObjects: try deleteObjects(request, responses)
        case .copyObject(let source, let checksum): .respond(try copy(source, checksum, request, responses))
        case .initiateMultipart(let checksum): .respond(try initiate(checksum, request, responses))
        case .uploadPart: try uploadPart(request, responses)
        case .copyPart(_, _, let source): .respond(try copyPart(source, request, responses))
        case .listParts(let id, let marker, let limit):
            .respond(try listParts(of: id, after: marker, limit: limit, request, responses))
        case .completeMultipart(let id, let all, let expected):
            try complete(id, all: all, expected, request, responses)
        case .abortMultipart(let id): .respond(try abort(id, request, responses))
        case .listMultiparts(let query): .respond(try listMultiparts(query, request, responses))
        case .objectProperty(let property): .respond(try objectProperty(property, request, responses))
        case .putTags: try putTags(request, responses)
        case .deleteTags: .respond(try deleteTags(request, responses))
        case .listBuckets(let query): .respond(try listBuckets(query, request, responses))
        case .headBucket: .respond(try headBucket(request, responses))
        case .createBucket: throw try createBucket(request)
        case .deleteBucket: throw try deleteBucket(request)
        case .bucketProperty(let property): .respond(try bucketProperty(property, request, responses))
        case .listObjects(let query): .respond(try listObjects(query, request, responses))
        // A form is signed by its fields, and ``FormUpload`` receives it.
        case .postObject: throw StoreError.notImplemented(request.operation.name)
        }
    }

    /// Returns the permission to write the object of a request.
    func permit(_ request: StoreRequest) throws -> WritePermit { try request.requiredAccess.requireWrite(policy) }

    /// Receives the body of a request.
    func receive(
        _ payload: Payload, to receiver: some StoreBodyReceiver, _ responses: StoreResponses
    ) -> HTTPDisposition {
        .receive(StoreBody(payload.framing, to: receiver) { failed($0, responses) })
    }

    func failed(_ error: any Error, _ responses: StoreResponses) -> HTTPResponse {
        let failure = StoreError(error)
        switch failure.code {
        case .quotaExceeded: configuration.daemon.metrics.limitReached("quota")
        // The client requested an unsupported operation.
        case .notImplemented: break
        case .slowDown: configuration.daemon.metrics.limitReached("buffer_bytes")
        // Another request of the same client came in between.
        case _ where error is WritesInFlight.Revoked: break
        case _ where failure.code.status >= 500:
            responses.log(log).write("a request to the object store failed", ["error": "\(error)"], level: .error)
        default: break
        }
        return responses.error(failure)
    }
}
