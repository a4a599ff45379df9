import Accounts
import Basics
import HTTPTypes
import Proto
import RPC
import StoreProtocol
import Wire

@testable import DeviceClient
@testable import ObjectStore
@testable import StoreClient
@testable import StoreServer
@testable import Uploads

/// The server's side: the gateway's own rules over a real database and a real store, called without a network and with simulated
/// time.
final class SimulatedGateway {
    private enum Body {
        case whole(ObjectPut)
        case part(PartUpload)
    }

    let world: World
    let file: SimulatedFile
    private var caller: Caller
    /// The requests whose bodies are in transit, by message.
    private var bodies: [Int: (body: Body, call: Call)] = [:]
    /// The bodies of killed processes: the ends of their requests, which would remove them, never arrive.
    private var killed: [Body] = []

    init(_ world: World, _ device: Caller, _ file: SimulatedFile) throws {
        (self.world, self.file, caller) = (world, file, device)
        caller = try device.at(service())
    }

    /// Ends the process as `kill -9` does, and starts another: memory is lost, and the store is reconciled.
    func restart() throws {
        killed += bodies.values.map(\.body)
        bodies = [:]
        try world.restart()
        caller = try caller.at(service())
    }

    private var store: ObjectStore { world.store }

    private func service() throws -> UploadService {
        UploadService(
            sessions: UploadSessions(
                database: world.scene.database, store: store, endpoint: try StoreEndpoint(Scene.endpoint),
                clock: world.scene.clock, steady: world.scene.clockGuard.steady, identifiers: world.scene.identifiers,
                configuration: world.configuration))
    }

    func sweep() async throws {
        _ = try await UploadSweep(
            database: world.scene.database, store: store, configuration: world.configuration
        ).run(world.scene.permit)
        _ = try await store.sweepRemovals()
    }

    // MARK: Requests

    func response(_ request: Request) async -> Reply {
        do {
            guard request.call.attempt != nil else { return try await respondAsGateway(request.call) }
            return try respondAsStore(request)
        } catch {
            return Self.failure(error, request.call)
        }
    }

    /// Handles the beginning of a body.
    ///
    /// - Returns: `nil` if the rest is expected.
    func begin(_ message: Int, _ request: Request) -> Reply? {
        do {
            switch request.call {
            case .put:
                let permit = try access(request.credentials).requireWrite(policy)
                let put = try ObjectPut(
                    store, permit: permit, length: file.size, checks: checks(0..<file.size), header: ObjectHeader())
                send(0..<file.size / 2, put.receive)
                bodies[message] = (.whole(put), request.call)
            case .part(_, let multipart, let range):
                let start = store.startPart(range.number, of: multipart, length: Int64(range.bytes.count))
                let permit = try access(request.credentials, start).requireWrite(policy)
                let part = try PartUpload(store, permit: permit, start: start, checks: checks(range.bytes))
                send(range.bytes.prefix(range.bytes.count / 2), part.receive)
                bodies[message] = (.part(part), request.call)
            default: preconditionFailure("\(request.call) has no body")
            }
            return nil
        } catch {
            return Self.failure(error, request.call)
        }
    }

    /// Handles the rest of a body; `nil` if the process that received its beginning was killed.
    func finish(_ message: Int) -> Reply? {
        guard let (body, call) = bodies.removeValue(forKey: message) else { return nil }
        do {
            switch (body, call) {
            case (.whole(let put), _):
                send(file.size / 2..<file.size, put.receive)
                return .put(etag: try put.finish().etag)
            case (.part(let part), .part(_, _, let range)):
                send(range.bytes.dropFirst(range.bytes.count / 2), part.receive)
                return .part(StorePart(try part.finish()))
            default: preconditionFailure("\(call) has no body")
            }
        } catch {
            return Self.failure(error, call)
        }
    }

    /// Handles a lost connection.
    func abort(_ message: Int) {
        switch bodies.removeValue(forKey: message)?.body {
        case .whole(let put): put.abandon()
        case .part(let part): part.abandon()
        case nil: break
        }
    }

    private func respondAsGateway(_ call: Call) async throws -> Reply {
        switch call {
        case .create(let former, let key):
            let hints = key.map { ["idempotency_key": $0] } ?? [:]
            return .created(try await caller.create(restartFrom: former, hints: hints))
        case .recovery(let logicalID): return .recovery(try await caller.recovery(logicalID))
        case .reissue(let uploadID): return .reissued(try await caller.reissue(uploadID))
        case .complete(let request):
            try await caller.complete(request)
            return .completed
        case .abort(let logicalID):
            try await caller.abort(logicalID)
            return .aborted
        default: preconditionFailure("\(call) is the store's")
        }
    }

    private func respondAsStore(_ request: Request) throws -> Reply {
        let access = try access(request.credentials)
        switch request.call {
        case .head:
            do {
                let object = try store.object(access.claims)
                return .head((object.size, object.etag, object.crc64))
            } catch ObjectStoreError.noSuchObject {
                return .head(nil)
            }
        case .initiate:
            let permit = try access.requireWrite(policy)
            return .initiated(
                multipart: try store.initiateMultipart(permit, checksum: nil).id)
        case .list(_, let multipart):
            return .parts(
                try store.listParts(multipart, access.claims, after: 0, limit: 1000).parts.map(StorePart.init))
        case .join(_, let multipart, let parts):
            if let done = try store.completed(multipart, access.claims) { return .joined(etag: done.etag) }
            let permit = try access.requireWrite(policy)
            let list = try CompletionList(xml: StoreClient.completion(of: parts))
            return .joined(etag: try store.completeMultipart(multipart, list, permit, etags: .oss).etag)
        default: preconditionFailure("\(request.call) is the gateway's")
        }
    }

    // MARK: Requests to the store

    private var policy: StoreAccessPolicy {
        StoreAccessPolicy(
            store: store, clock: world.scene.clock, steady: world.scene.clockGuard.steady,
            configuration: world.configuration)
    }

    private func access(_ credentials: TemporaryCredentials?, _ part: PartStart? = nil) throws -> StoreAccess {
        guard let credentials else { throw StoreError(.invalidAccessKeyID, "there are no credentials") }
        let (claims, _) = try store.issuer.verify(
            accessKeyID: credentials.accessKeyID, token: credentials.securityToken)
        let admission = StoreAdmission(store: store, policy: policy, configuration: StoreServerConfiguration())
        let body = part.map { PartBody(start: $0, payload: .success(Payload(length: nil, checks: BodyChecks()))) }
        return try admission.access(claims, part: body)
    }

    private func checks(_ range: Range<Int64>) -> BodyChecks { BodyChecks(contentMD5: file.md5(range)) }

    private func send(_ range: Range<Int64>, _ receive: (UnsafeRawBufferPointer) -> Void) {
        file.bytes.withUnsafeBytes {
            receive(UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }

    private static func failure(_ error: any Error, _ call: Call) -> Reply {
        guard let error = error as? RPCError else {
            let error = StoreError(error)
            return .failed(
                StoreRefusal(status: error.code.status, code: error.code.rawValue, message: error.message))
        }
        return .failed(
            CallFailure(
                status: GRPCStatus(
                    error.status, error.message,
                    details: error.detail.map { ErrorDetail(code: $0.rawValue, message: "").encoded() }),
                method: call.method, server: PeerAddress(host: "gateway", port: 1)))
    }
}

extension StorePart {
    fileprivate init(_ record: PartRecord) {
        self.init(
            number: record.number, size: record.size, etag: ETag.whole(md5: record.md5, .oss), crc64: record.crc64)
    }
}
