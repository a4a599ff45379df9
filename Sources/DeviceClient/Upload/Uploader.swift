package import Basics
import Crypto
import FoundationEssentials
import GatewayFormats
import Glibc
package import HTTPClient
import Proto
import RPC
import Sockets
import StoreClient
import Wire

/// Uploads files as a device.
package struct Uploader: Sendable {
    package struct Options: Sendable {
        /// The number of parts sent at once, at least 1.
        package var parallel = 1
        package var retries = RetryPolicy()
        /// PEM; `nil` = the system's trusted authorities.
        package var authorities: String?
        /// The rate limit for sending parts; `nil` = unlimited.
        package var sendLimit: RateLimit?
        /// The record of confirmed files; `nil` = they are not recorded.
        package var delivered: DeliveredFiles?

        package init() {}
    }

    /// The treatment of an earlier, unfinished upload of the same file.
    package enum Beginning: Sendable {
        /// It is continued.
        case resuming
        /// It is aborted.
        case restarting
    }

    /// The result of an upload.
    package struct Outcome: Sendable {
        package let source: SourceIdentity
        package let logicalID: String
        package let uploadID: String
        /// The id of the object for users; empty if the gateway does not return it.
        package let fileID: String
        package let etag: String
        /// 0 for an object that was sent by a single PutObject.
        package let parts: Int
        /// CRC-64/XZ of the sent bytes; `nil` if an earlier run sent parts of them.
        package let crc64: UInt64?
    }

    /// The receiver of notices about the file for which the present task makes calls.
    @TaskLocal private static var fileNotices: NoticeReceiver?

    /// A closure as an object: as the value of a task, a closure makes optimized programs crash (Swift 6.3).
    private final class NoticeReceiver: Sendable {
        let receive: @Sendable (UploadNotice) -> Void

        init(_ receive: @escaping @Sendable (UploadNotice) -> Void) { self.receive = receive }
    }

    private let folder: DeviceFolder
    private let configuration: DeviceConfiguration
    private let address: GatewayAddress
    private let calls: DeviceCalls
    let service: DataGatewayServiceClient<DeviceCalls>
    private let options: Options
    private let clock: ServerClock
    private let notice: @Sendable (UploadNotice) -> Void

    /// - Throws: `DeviceFolder.Failure` for a folder without a device's files, `TLSError` for unusable authorities.
    package init(
        _ folder: DeviceFolder, options: Options, clock: any WallClock,
        notice: @escaping @Sendable (UploadNotice) -> Void
    ) throws {
        let configuration = try folder.initializedConfiguration()
        address = try GatewayAddress(folder, authorities: options.authorities, clock: clock) {
            notice(.addressChanged($0))
        } keyNotice: {
            notice(.keyChanged($0))
        }
        let retrying = Retrying(policy: options.retries) {
            FailureResponse($0).failureKind
        } notice: { what, reason, delay in
            (Self.fileNotices?.receive ?? notice)(.waiting(what: what, reason: reason, delay: delay))
        }
        calls = DeviceCalls(at: address, clock: clock, retrying: retrying)
        service = DataGatewayServiceClient(calls)
        self.folder = folder
        self.configuration = configuration
        self.options = options
        self.clock = ServerClock(clock)
        self.notice = notice
    }

    /// The record of confirmed files; `nil` = they are not recorded.
    package var delivered: DeliveredFiles? { options.delivered }

    /// The files (absolute) whose uploads were begun and did not end.
    package func unfinished() throws -> [String] { try unfinishedSources().map(\.path) }

    /// The files whose uploads were begun and did not end, as they were then.
    package func unfinishedSources() throws -> [SourceIdentity] {
        let names: [String]
        do {
            names = try FolderListing.names(in: folder.uploadsPath)
        } catch {
            guard error.code == ENOENT else { throw error }
            return []
        }
        return try names.filter { $0.hasSuffix(".jsonl") }.sorted().compactMap { name in
            try UploadJournal.source(at: "\(folder.uploadsPath)/\(name)")
        }
    }

    /// Whether the store has all bytes of the unfinished upload of the file at the absolute path.
    func hasStored(_ path: String) -> Bool { UploadJournal.isStored(at: UploadJournal.path(of: path, in: folder)) }

    /// Whether the upload of the file at the absolute path cannot be continued, because the file was removed.
    package func isLost(_ path: String) throws -> Bool {
        try !hasStored(path) && unfinishedSources().contains { $0.path == path && $0.isRemoved }
    }

    /// Uploads `path`, with retries of temporary errors. If cancelled, it can be resumed.
    ///
    /// - Parameters:
    ///   - relativePath: the path below the folder that is uploaded; `nil` = the file was given itself.
    ///   - tags: beside those of the device, before which they count. An upload that is resumed keeps its own.
    ///   - expected: the file that was found at `path`, which nobody is to write to until it is stored: any other, one that is
    ///     written to, and a symbolic link are refused with `SourceChange` or a failure to read. `nil` = whatever is there.
    ///   - ownNotice: gets what happens to this file, in the place of the uploader's.
    package func upload(
        _ path: String, relativePath: String? = nil, tags: [String: String], _ beginning: Beginning,
        expecting expected: SourceIdentity? = nil, notice ownNotice: (@Sendable (UploadNotice) -> Void)? = nil
    ) async throws -> Outcome {
        let notice = ownNotice ?? notice
        return try await Self.$fileNotices.withValue(NoticeReceiver(notice)) {
            try await upload(path, relativePath, tags, beginning, expected, notice)
        }
    }

    private func upload(
        _ path: String, _ relativePath: String?, _ tags: [String: String], _ beginning: Beginning,
        _ expected: SourceIdentity?, _ notice: @escaping @Sendable (UploadNotice) -> Void
    ) async throws -> Outcome {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        try folder.makeUploads()
        if case .restarting = beginning { try await giveUp(absolute, "restarted by the client") }
        let labels = FileLabels(tags: tags, relativePath: relativePath.flatMap(FileLabels.path))
        let ledger = try open(absolute, labels, expected)
        let state = await ledger.state
        if ledger.isResumed, state.tags != allTags(of: absolute, labels) {
            notice(.tagsKept(state.tags.filter { $0.key != FileName.tagKey && configuration.tags[$0.key] != $0.value }))
        }
        notice(.began(state, acknowledged: state.acknowledgedBytes))
        do {
            let run = UploadRun(
                ledger, service: service, clock: clock,
                transfer: UploadRun.Transfer(
                    retrying: storeRetrying(notice), parallel: options.parallel, refusesWriters: expected != nil,
                    connection: HTTPConnection.Options(
                        authorities: await address.place.authorities, sendLimit: options.sendLimit)), notice: notice)
            let finished = try await run.finish()
            let logicalID = await ledger.state.logicalID ?? ""
            // Before the journal is removed: after a crash between the two, the upload is completed once more, and not repeated.
            try options.delivered?.add(
                state.source, crc64: finished.crc64, fileID: finished.fileID, at: clock.now())
            try await ledger.remove()
            return Outcome(
                source: state.source, logicalID: logicalID, uploadID: finished.attempt.upload,
                fileID: finished.fileID, etag: finished.etag, parts: finished.parts, crc64: finished.crc64)
        } catch let change as SourceChange {
            // The stored parts cannot be completed any more. If the gateway cannot be told now, the next run tells it.
            try? await abandon(ledger, "the file \(change.change)")
            throw change
        } catch let failure as SourceFailure {
            try? await abandon(ledger, failure.message)
            throw failure
        } catch {
            guard let refusal = error as? FileRefusal ?? FileRefusal(error, of: absolute) else { throw error }
            // What was stored can never be completed.
            try? await abandon(ledger, refusal.message)
            throw refusal
        }
    }

    /// The tags of an upload that begins: those of the device, those of the file, and its name.
    private func allTags(of path: String, _ labels: FileLabels) -> [String: String] {
        var all = configuration.tags.merging(labels.tags) { $1 }
        all[FileName.tagKey] = FileLabels.escaped(Path.name(of: path))
        return all
    }

    private func open(_ path: String, _ labels: FileLabels, _ expected: SourceIdentity?) throws -> UploadLedger {
        let ledger = try UploadLedger.open(UploadJournal.path(of: path, in: folder)) {
            let all = allTags(of: path, labels)
            try FileRefusal.check(path, all)
            let source = try SourceIdentity(FileReader(path, followsLinks: expected == nil))
            if let change = expected?.change(to: source) { throw SourceChange(path, change) }
            return .begun(
                source: source, tags: all, key: Random.hex(16), path: labels.relativePath)
        }
        guard let ledger else { throw DeviceFolder.Failure("cannot begin the upload of \(path)") }
        return ledger
    }

    /// Returns the retries of the store's requests. A call for new credentials has its own.
    private func storeRetrying(_ notice: @escaping @Sendable (UploadNotice) -> Void) -> Retrying {
        Retrying(policy: options.retries) { error in
            error is CallFailure ? .permanent : FailureResponse(error).failureKind
        } notice: { what, reason, delay in
            notice(.waiting(what: what, reason: reason, delay: delay))
        }
    }

    /// Requests a token, which succeeds if the device's key is valid.
    package func checkKey() async throws { try await calls.authenticate() }

    /// Aborts the unfinished upload of a file, if there is one.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - reason: the reason for people at the gateway, a sentence without a full stop.
    package func giveUp(_ path: String, _ reason: String) async throws {
        guard let ledger = try UploadLedger.open(UploadJournal.path(of: path, in: folder), begin: { nil }) else {
            return
        }
        try await abandon(ledger, reason)
    }

    /// The reason for an upload that is given up because its file was removed.
    package static let removal = "the file was removed"

    /// Aborts the unfinished upload of a file that was removed.
    ///
    /// - Parameter path: absolute.
    /// - Returns: whether the file was removed.
    package func giveUpIfRemoved(_ path: String) async throws -> Bool {
        guard let source = try unfinishedSources().first(where: { $0.path == path }), source.isRemoved else {
            return false
        }
        try await giveUp(path, Self.removal)
        return true
    }

    /// Aborts the upload at the gateway, and removes its journal.
    private func abandon(_ ledger: UploadLedger, _ reason: String) async throws {
        let state = await ledger.state
        if let logicalID = state.logicalID, state.attempt != nil {
            do {
                _ = try await service.abortUpload(AbortUploadRequest(logicalUploadID: logicalID, reason: reason))
            } catch let failure as CallFailure where failure.isOfUnknownUpload {
                // There is nothing to abort.
            }
        }
        try await ledger.remove()
    }
}

extension Endpoints {
    /// Returns the authorities of the servers' certificates; `nil` if no endpoint uses TLS.
    func authorities(_ file: String?) throws -> TLSAuthorities? {
        [auth, gateway, deviceInit].contains { $0.scheme == .https } ? try TLSAuthorities(file: file) : nil
    }
}

/// A notification about the progress of an upload.
package enum UploadNotice: Sendable {
    /// - Parameter acknowledged: the bytes that the store already has.
    case began(UploadState, acknowledged: Int64)
    /// A continued upload keeps these tags, which are not those that were given now; without those of the device.
    case tagsKept([String: String])
    /// The bytes that the store has, after it was asked.
    case position(acknowledged: Int64, size: Int64)
    /// The bytes sent since the last notice; negative if a part failed and its bytes no longer count.
    case moved(bytes: Int64)
    /// The store acknowledged a part.
    case acknowledged(part: Int, bytes: Int64)
    /// A temporary error; the step is retried after the delay.
    case waiting(what: String, reason: any Error, delay: Duration)
    /// The address of the gateway changed, or an announced one is not used: a sentence without a full stop.
    case addressChanged(String)
    /// The device's key was replaced, or is not replaced yet: a sentence without a full stop.
    case keyChanged(String)
    /// The stored parts are lost: the file is sent again from its beginning.
    case restarted
}
