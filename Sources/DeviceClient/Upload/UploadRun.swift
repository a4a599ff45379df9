import Basics
import GatewayFormats
import HTTPClient
import Proto
import RPC
import StoreClient
import StoreProtocol
import Synchronization

/// Executes one upload from its recorded state to its end.
struct UploadRun: Sendable {
    /// The number of times that the gateway is asked for the upload's state before the upload fails. A part's acknowledgement,
    /// which shows progress, resets the count.
    private static let maxRecoveryAttempts = 3

    let ledger: UploadLedger
    let service: DataGatewayServiceClient<DeviceCalls>
    let clock: ServerClock
    let transfer: Transfer
    let notice: @Sendable (UploadNotice) -> Void
    private let control: HTTPConnection
    /// CRC-64/XZ of the whole file, after it was sent.
    private let contentChecksum = ContentChecksum()

    init(
        _ ledger: UploadLedger, service: DataGatewayServiceClient<DeviceCalls>, clock: ServerClock,
        transfer: Transfer, notice: @escaping @Sendable (UploadNotice) -> Void
    ) {
        self.ledger = ledger
        self.service = service
        self.clock = clock
        self.transfer = transfer
        self.notice = notice
        control = HTTPConnection(transfer.connection)
    }

    /// The settings of the transfer to the store.
    struct Transfer: Sendable {
        /// The retries of the store's requests; calls have their own.
        let retrying: Retrying
        /// The number of connections that send parts at the same time.
        let parallel: Int
        /// Whether a file that a process has open for writing is refused when its bytes are stored.
        let refusesWriters: Bool
        let connection: HTTPConnection.Options
    }

    /// The result of a finished upload.
    struct Finished: Sendable {
        let attempt: UploadAttempt
        /// Empty if the gateway does not return it.
        let fileID: String
        let etag: String
        let parts: Int
        /// CRC-64/XZ of the file; `nil` if an earlier run sent parts of it.
        let crc64: UInt64?
    }

    func finish() async throws -> Finished {
        var store: AttemptStore?
        var mustAsk = ledger.isResumed
        var wasRefused = false
        var recoveryAttempts = 0
        while true {
            try Task.checkCancellation()
            let before = await ledger.state.acknowledgedBytes
            do {
                if mustAsk {
                    try await recover(&store, wasRefused: wasRefused)
                    (mustAsk, wasRefused) = (false, false)
                    let state = await ledger.state
                    notice(.position(acknowledged: state.acknowledgedBytes, size: state.source.size))
                }
                if let finished = try await step(&store) { return finished }
            } catch  where FailureResponse(error) == .askForRecovery {
                recoveryAttempts = await ledger.state.acknowledgedBytes > before ? 0 : recoveryAttempts + 1
                guard recoveryAttempts <= Self.maxRecoveryAttempts else { throw error }
                wasRefused = (error as? CallFailure)?.method == DataGatewayServiceMethods.completeUpload
                mustAsk = true
            }
        }
    }

    // MARK: Steps

    private func step(
        _ store: inout AttemptStore?
    ) async throws -> Finished? {
        let state = await ledger.state
        switch state.step {
        case .create:
            do {
                store = try await create(key: state.key)
            } catch let failure as CallFailure where failure.detail == .uploadNotRefreshable {
                // The upload whose creation was not acknowledged has ended meanwhile.
                store = try await create()
            }
        case .put(let attempt):
            try await put(attempt, state, through: try reach(&store, attempt))
        case .initiate(let attempt):
            let store = try reach(&store, attempt)
            let type = contentType(of: state.source)
            let id = try await trying("InitiateMultipartUpload", store) {
                try await $0.initiateMultipart(contentType: type)
            }
            try await ledger.record(.initiated(multipart: id))
        case .send(let attempt, let multipart, let missing):
            try await PartSending(
                source: try PartSource(state.source), multipart: multipart, store: try reach(&store, attempt), run: self
            ).send(missing)
        case .join(let attempt, let multipart, let parts):
            try checkWriters(of: state.source)
            let store = try reach(&store, attempt)
            let etag = try await trying("CompleteMultipartUpload", store) {
                try await $0.complete(multipart, parts: parts)
            }
            let pieces = parts.compactMap { part in part.crc64.map { (crc64: $0, size: part.size) } }
            if pieces.count == parts.count { contentChecksum.value = ContentDigest.crc64(of: pieces) }
            try await ledger.record(.stored(upload: attempt.upload, etag: etag, parts: parts.count))
        case .complete(let attempt, let etag, let parts):
            let reply = try await service.completeUpload(
                CompleteUploadRequest(
                    uploadID: attempt.upload, fileSize: state.source.size, rawTags: state.tags,
                    completedPartCount: Int32(clamping: parts), ossObjectEtag: etag,
                    partSizeBytes: attempt.partSize))
            return Finished(
                attempt: attempt, fileID: reply.fileID, etag: etag, parts: parts, crc64: contentChecksum.value)
        case .fail(let reason):
            throw FileRefusal("\(state.source.path) \(reason)")
        }
        return nil
    }

    /// Returns the properties that the gateway shows during the upload, and from which it names the object.
    private func hints(_ key: String?, of state: UploadState) -> [String: String] {
        let name = FileLabels.escaped(Path.name(of: state.source.path))
        var hints = ["file_name": name, "file_size": String(state.source.size)]
        hints["idempotency_key"] = key
        hints["relative_path"] = state.path
        return hints
    }

    private func contentType(of source: SourceIdentity) -> String? {
        FileName(Path.name(of: source.path)).flatMap(ContentType.byName)
    }

    private func create(restartFrom former: String = "", key: String? = nil) async throws -> AttemptStore {
        let reply = try await service.createLogicalUpload(
            CreateLogicalUploadRequest(
                clientHints: hints(key, of: await ledger.state), restartFromUploadID: former))
        guard let issued = reply.credentials, !reply.uploadID.isEmpty, issued.partSizeBytes > 0 else {
            throw TransferFailure.unusable("the gateway's reply to CreateLogicalUpload has no credentials")
        }
        let attempt = UploadAttempt(issued, upload: reply.uploadID)
        try await ledger.record(.created(logical: reply.logicalUploadID, attempt: attempt))
        return try AttemptStore(attempt, issued: issued, service: service, clock: clock)
    }

    private func put(_ attempt: UploadAttempt, _ state: UploadState, through store: AttemptStore) async throws {
        let source = try PartSource(state.source)
        let type = contentType(of: state.source)
        let etag = try await transfer.retrying.run("PutObject") {
            let piece = try await source.piece(0..<state.source.size)
            contentChecksum.value = piece.crc64
            let counted = CountedBytes(notice)
            do {
                return try await store.run(over: control) {
                    try await $0.put(piece, contentType: type ?? ContentType.unknown) { counted.add($0) }
                }
            } catch {
                counted.takeBack()
                throw error
            }
        }
        try source.verify()
        try checkWriters(of: state.source)
        try await ledger.record(.stored(upload: attempt.upload, etag: etag, parts: 0))
    }

    /// - Throws: `SourceChange` where the file has changed, or a process has it open for writing.
    private func checkWriters(of source: SourceIdentity) throws {
        guard transfer.refusesWriters else { return }
        try PartSource(source).verify()
        guard SourceIdentity.isBeingWritten(source.path) != true else {
            throw SourceChange(source.path, "was opened for writing")
        }
    }

    private func reach(_ store: inout AttemptStore?, _ attempt: UploadAttempt) throws -> AttemptStore {
        let reached = try store ?? AttemptStore(attempt, issued: nil, service: service, clock: clock)
        store = reached
        return reached
    }

    private func trying<Result>(
        _ what: String, _ store: AttemptStore, _ operation: (StoreClient) async throws -> Result
    ) async throws -> Result {
        try await transfer.retrying.run(what) { try await store.run(over: control, operation) }
    }

    // MARK: Recovery

    /// Determines the outcome of steps whose responses were lost.
    private func recover(_ store: inout AttemptStore?, wasRefused: Bool) async throws {
        let state = await ledger.state
        guard let logicalID = state.logicalID else { return }
        let response: GetUploadRecoveryResponse?
        do {
            response = try await service.getUploadRecovery(GetUploadRecoveryRequest(logicalUploadID: logicalID))
        } catch let failure as CallFailure where failure.isOfUnknownUpload {
            response = nil
        }
        switch state.recovery(response, wasRefused: wasRefused) {
        case .goOn:
            if let attempt = state.attempt { try await compare(state, through: try reach(&store, attempt)) }
        case .restart(let former):
            store = try await create(restartFrom: former, key: state.key(restartingFrom: former))
            noteLoss(of: state)
        case .beginAnew:
            store = try await create()
            noteLoss(of: state)
        case .complete(let upload, let etag, let parts):
            try await ledger.record(.stored(upload: upload, etag: etag, parts: parts))
        case .end(let reason):
            let reason = reason.isEmpty ? "no reason was given" : reason
            throw SourceFailure("the upload of \(state.source.path) was aborted: \(reason)")
        case .refuse(let reason):
            throw TransferFailure.unusable(reason)
        }
    }

    /// Compares with the store: parts that it has are not sent again; lost ones are.
    private func compare(_ state: UploadState, through store: AttemptStore) async throws {
        switch state.phase {
        case .created(let attempt) where state.source.size <= attempt.partSize:
            guard let found = try await trying("HeadObject", store, { try await $0.head() }),
                found.size == state.source.size
            else { return }
            let piece = try await PartSource(state.source).piece(0..<state.source.size)
            guard found.crc64 == piece.crc64 else { return }
            try await ledger.record(.stored(upload: attempt.upload, etag: found.etag, parts: 0))
        case .sending(let attempt, let multipart, let known):
            do {
                let listed = try await trying("ListParts", store) { try await $0.parts(of: multipart) }
                let held = try await verified(listed, known: known, state.source, attempt)
                if held != known { try await ledger.record(.held(parts: held.values.sorted { $0.number < $1.number })) }
            } catch let refusal as StoreRefusal where refusal.retryability == .startOver {
                try await ledger.record(.lost)
                noteLoss(of: state)
            }
        default: break
        }
    }

    /// Reports that what was stored is sent again. An upload that was interrupted before its first part has lost nothing.
    private func noteLoss(of former: UploadState) {
        if former.acknowledgedBytes > 0 { notice(.restarted) }
    }

    /// Returns the listed parts that contain the file's bytes.
    private func verified(
        _ listed: [StorePart], known: [Int: StorePart], _ identity: SourceIdentity, _ attempt: UploadAttempt
    ) async throws -> [Int: StorePart] {
        let ranges = PartRange.all(size: identity.size, partSize: attempt.partSize)
        var held: [Int: StorePart] = [:]
        for part in listed where ranges.indices.contains(part.number - 1) {
            let range = ranges[part.number - 1].bytes
            guard part.size == Int64(range.count) else { continue }
            if let ours = known[part.number], ETag.matches(ours.etag, part.etag) {
                held[part.number] = ours
            } else {
                let piece = try await PartSource(identity).piece(range)
                guard piece.crc64 == part.crc64 || ETag.matches(Hex.upper(piece.md5), part.etag) else { continue }
                held[part.number] = StorePart(
                    number: part.number, size: part.size, etag: part.etag, crc64: piece.crc64)
            }
        }
        return held
    }
}

/// The CRC-64 of a file, when it is known.
private final class ContentChecksum: Sendable {
    private let known = Lock<UInt64?>(nil)

    var value: UInt64? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
}
