import Basics
import Crypto
import GatewayAPI
import Proto
import RPC
import StoreClient
import StoreProtocol

@testable import DeviceClient

/// The client's side: the plan of `DeviceClient`, with messages in place of the client's calls.
///
/// `journal` survives the end of its process; the run does not.
struct SimulatedDevice {
    enum Outcome: Equatable {
        case completed(upload: String)
        /// The user aborted the upload, or the gateway reported that it was aborted.
        case abandoned
    }

    /// A violation of the contract that the device noticed.
    struct Complaint: Error {
        let text: String
    }

    /// A call that has to be made, or that waits for its reply.
    struct Ask {
        let call: Call
        /// The number of the run's credentials that signed it.
        var credentials = 0
        /// Whether credentials were refused before.
        var isSecondTry = false
    }

    private struct Run {
        var state: UploadState
        /// The current credentials, and their number.
        var credentials: (value: TemporaryCredentials, number: Int)?
        var mustAsk: Bool
        var wasRefused = false
        var recoveryAttempts = 0
        /// The acknowledged bytes at the beginning of the step.
        var before: Int64 = 0
        /// The calls to send, in order.
        var outbox: [Ask] = []
        var waiting: [Int: Ask] = [:]
        /// Calls that are repeated with new credentials.
        var blocked: [Ask] = []
        /// Parts that are not being sent yet.
        var parts: [PartRange] = []
    }

    private static let maxRecoveryAttempts = 3

    let file: SimulatedFile
    /// The number of parts that it sends in parallel.
    let parallel: Int
    private(set) var journal: [UploadEvent] = []
    private(set) var outcome: Outcome?
    private var run: Run?
    private var isGivingUp = false

    init(_ file: SimulatedFile, parallel: Int) {
        self.file = file
        self.parallel = parallel
    }

    var isRunning: Bool { run != nil }
    var logicalID: String? { (try? Self.replay(journal))?.logicalID }
    var waiting: [Int] { run?.waiting.keys.sorted() ?? [] }

    // MARK: Life cycle

    /// Begins an upload, or continues the one in the journal.
    mutating func start(key: String) throws {
        let isResumed = !journal.isEmpty
        if !isResumed {
            journal = [.begun(source: file.identity, tags: ["k": "v"], key: key)]
            outcome = nil
        }
        run = Run(state: try Self.replay(journal), mustAsk: isResumed)
    }

    /// Ends the process; messages in transit stay there.
    mutating func end() { run = nil }

    /// Aborts the upload: from now on runs only abort it.
    mutating func giveUp() {
        isGivingUp = true
        run = nil
    }

    /// Removes the last acknowledgement from the journal, which no real program does.
    mutating func forgetLastAcknowledgement() throws {
        guard let index = journal.lastIndex(where: { if case .acknowledged = $0 { true } else { false } }) else {
            return
        }
        journal.remove(at: index)
        run?.state = try Self.replay(journal)
    }

    private static func replay(_ journal: [UploadEvent]) throws -> UploadState {
        var state = try UploadState(journal[0])
        for event in journal.dropFirst() { try state.apply(event) }
        return state
    }

    private mutating func record(_ event: UploadEvent) throws {
        try run?.state.apply(event)
        journal.append(event)
    }

    // MARK: Sending

    /// Returns the next call; `nil` if the device waits.
    mutating func nextCall() throws -> Ask? {
        if let ask = run?.outbox.first {
            run?.outbox.removeFirst()
            return signed(ask)
        }
        guard var current = run else { return nil }
        if current.waiting.isEmpty {
            try decide()
            return try nextCall()
        }
        guard !current.parts.isEmpty, current.waiting.count < parallel, current.blocked.isEmpty else { return nil }
        let part = current.parts.removeFirst()
        run = current
        guard case .sending(let attempt, let multipart, _) = current.state.phase else { return nil }
        return signed(Ask(call: .part(attempt, multipart: multipart, part)))
    }

    /// Repeats a call whose reply did not arrive.
    mutating func timeOut(_ number: Int) {
        guard let ask = run?.waiting.removeValue(forKey: number) else { return }
        run?.outbox.append(ask)
    }

    /// Records that the call was sent with that number.
    mutating func sent(_ ask: Ask, as number: Int) {
        run?.waiting[number] = ask
    }

    func request(_ ask: Ask) -> Request {
        Request(call: ask.call, credentials: ask.call.attempt == nil ? nil : run?.credentials?.value)
    }

    /// Signs a call to the store, or first requests credentials if it has none.
    private mutating func signed(_ ask: Ask) -> Ask? {
        guard let attempt = ask.call.attempt else { return ask }
        guard let credentials = run?.credentials else {
            block(ask, attempt)
            return nil
        }
        var ask = ask
        ask.credentials = credentials.number
        return ask
    }

    private mutating func block(_ ask: Ask, _ attempt: UploadAttempt) {
        if run?.blocked.isEmpty == true { run?.outbox.append(Ask(call: .reissue(uploadID: attempt.upload))) }
        run?.blocked.append(ask)
    }

    private mutating func decide() throws {
        guard var current = run else { return }
        current.before = current.state.acknowledgedBytes
        let calls: [Call]
        if isGivingUp {
            calls = current.state.logicalID.map { [.abort(logicalID: $0)] } ?? []
            if calls.isEmpty { try finish(.abandoned) }
        } else if current.mustAsk, let logicalID = current.state.logicalID {
            calls = [.recovery(logicalID: logicalID)]
        } else {
            current.mustAsk = false
            calls = try self.calls(&current)
        }
        guard run != nil else { return }
        current.outbox = calls.map { Ask(call: $0) }
        run = current
    }

    private func calls(_ current: inout Run) throws -> [Call] {
        switch current.state.step {
        case .create: return [.create(restartFrom: "", key: current.state.key)]
        case .put(let attempt): return [.put(attempt)]
        case .initiate(let attempt): return [.initiate(attempt)]
        case .send(let attempt, let multipart, let missing):
            current.parts = Array(missing.dropFirst())
            return missing.prefix(1).map { .part(attempt, multipart: multipart, $0) }
        case .join(let attempt, let multipart, let parts): return [.join(attempt, multipart: multipart, parts)]
        case .complete(let attempt, let etag, let parts):
            return [
                .complete(
                    CompleteUploadRequest(
                        uploadID: attempt.upload, fileSize: file.size, rawTags: current.state.tags,
                        completedPartCount: Int32(clamping: parts), ossObjectEtag: etag,
                        partSizeBytes: attempt.partSize))
            ]
        case .fail(let reason): throw Complaint(text: "the plan gives up: \(reason)")
        }
    }

    // MARK: Receiving

    /// - Returns: the call of the reply; `nil` if no call waits for it any more.
    mutating func receive(_ reply: Reply, to number: Int) throws -> Call? {
        guard let ask = run?.waiting.removeValue(forKey: number) else { return nil }
        switch (ask.call, reply) {
        case (_, .failed(let error)): try fail(ask, error)
        case (_, .created(let reply)):
            guard let issued = reply.credentials else { throw Complaint(text: "a create without credentials") }
            let attempt = UploadAttempt(issued, upload: reply.uploadID)
            try record(.created(logical: reply.logicalUploadID, attempt: attempt))
            take(issued)
            run?.mustAsk = false
        case (_, .reissued(let reply)):
            guard let issued = reply.credentials, UploadAttempt(issued, upload: reply.uploadID) == run?.state.attempt
            else { throw Complaint(text: "credentials for another object") }
            take(issued)
            let blocked = run?.blocked ?? []
            run?.blocked = []
            run?.outbox += blocked
        case (_, .recovery(let response)): try recover(response)
        case (_, .head(let found)): try compare(found)
        case (_, .parts(let listed)): try compare(listed)
        case (.put(let attempt), .put(let etag)): try record(.stored(upload: attempt.upload, etag: etag, parts: 0))
        case (_, .initiated(let multipart)): try record(.initiated(multipart: multipart))
        case (_, .part(let part)): try record(.acknowledged(part: part))
        case (.join(let attempt, _, let parts), .joined(let etag)):
            try record(.stored(upload: attempt.upload, etag: etag, parts: parts.count))
        case (.complete(let request), .completed): try finish(.completed(upload: request.uploadID))
        case (_, .aborted): try finish(.abandoned)
        default: throw Complaint(text: "\(reply) is no answer to \(ask.call)")
        }
        return ask.call
    }

    private mutating func take(_ issued: UploadCredentials) {
        let value = TemporaryCredentials(
            accessKeyID: issued.stsAccessKeyID, secret: Secret(issued.stsAccessKeySecret),
            securityToken: issued.stsSecurityToken, expiresAt: UnixTime(seconds: issued.stsExpireAtUnix))
        let number = run?.credentials?.number ?? 0
        run?.credentials = (value, number + 1)
    }

    private mutating func finish(_ outcome: Outcome) throws {
        self.outcome = outcome
        (journal, run, isGivingUp) = ([], nil, false)
    }

    private mutating func recover(_ response: GetUploadRecoveryResponse) throws {
        guard let current = run else { return }
        let decision = current.state.recovery(response, wasRefused: current.wasRefused)
        run?.mustAsk = false
        run?.wasRefused = false
        switch decision {
        case .goOn:
            switch current.state.phase {
            case .created(let attempt) where file.size <= attempt.partSize:
                run?.outbox = [Ask(call: .head(attempt))]
            case .sending(let attempt, let multipart, _):
                run?.outbox = [Ask(call: .list(attempt, multipart: multipart))]
            default: break
            }
        case .restart(let former):
            run?.credentials = nil
            run?.outbox = [Ask(call: .create(restartFrom: former, key: current.state.key(restartingFrom: former)))]
        case .beginAnew: throw Complaint(text: "the upload is to begin anew")
        case .complete(let upload, let etag, let parts):
            try record(.stored(upload: upload, etag: etag, parts: parts))
        case .end: try finish(.abandoned)
        case .refuse(let reason): throw Complaint(text: "the gateway's answer makes no sense: \(reason)")
        }
    }

    private mutating func compare(_ found: (size: Int64, etag: String, crc64: UInt64)?) throws {
        guard let found, found.size == file.size, found.crc64 == file.crc64(0..<file.size),
            let attempt = run?.state.attempt
        else { return }
        try record(.stored(upload: attempt.upload, etag: found.etag, parts: 0))
    }

    private mutating func compare(_ listed: [StorePart]) throws {
        guard case .sending(let attempt, _, let known) = run?.state.phase else { return }
        let ranges = PartRange.all(size: file.size, partSize: attempt.partSize)
        let held = listed.filter { $0.crc64 == file.crc64(ranges[$0.number - 1].bytes) }
        if held != known.values.sorted(by: { $0.number < $1.number }) { try record(.held(parts: held)) }
    }

    private mutating func fail(_ ask: Ask, _ error: any Error) throws {
        if let refusal = error as? StoreRefusal {
            if case .list = ask.call, refusal.retryability == .startOver { return try record(.lost) }
            if refusal.retryability == .refreshCredentials, !ask.isSecondTry, let attempt = ask.call.attempt {
                var again = ask
                again.isSecondTry = true
                if run?.credentials?.number == ask.credentials {
                    block(again, attempt)
                } else {
                    run?.outbox.append(again)
                }
                return
            }
        }
        if case .create("", _?) = ask.call, (error as? CallFailure)?.detail == .uploadNotRefreshable {
            run?.outbox = [Ask(call: .create(restartFrom: "", key: nil))]
            return
        }
        if case .recovery = ask.call, (error as? CallFailure)?.detail == .uploadNotFound {
            throw Complaint(text: "the gateway does not know an upload that it issued")
        }
        switch FailureResponse(error) {
        case .retry: run?.outbox.append(Ask(call: ask.call))
        case .askForRecovery:
            guard var current = run else { return }
            current.recoveryAttempts =
                current.state.acknowledgedBytes > current.before ? 0 : current.recoveryAttempts + 1
            if case .complete = ask.call { current.wasRefused = true } else { current.wasRefused = false }
            current.mustAsk = true
            (current.outbox, current.waiting, current.blocked, current.parts) = ([], [:], [], [])
            run = current.recoveryAttempts > Self.maxRecoveryAttempts ? nil : current
        case .none: run = nil
        }
    }
}
