import Basics
import Crypto
import EventLoops
import Foundation
import GatewayErrors
import HTTPClient
import Proto
import RPC
import Sockets
import StoreClient
import Wire

/// A device that uploads files.
package struct Uploader: Sendable {
    package struct Options: Sendable {
        /// Parts that are sent at once, at least 1.
        package var parallel = 1
        package var retries = RetryPolicy()
        /// PEM; `nil` = the authorities that the system trusts.
        package var authorities: String?
        /// How fast parts are sent; `nil` = as fast as the network is.
        package var sendLimit: SendLimit?
        /// Where files are recorded that the gateway confirmed; `nil` = nowhere.
        package var delivered: DeliveredFiles?

        package init() {}
    }

    /// How an upload begins where an earlier one of the same file did not end.
    package enum Beginning: Sendable {
        /// There must be none.
        case new
        /// It goes on where that stopped.
        case resuming
        /// The earlier upload is aborted.
        case restarting
    }

    /// What became of a file.
    package struct Outcome: Sendable {
        package let source: SourceIdentity
        package let logicalID: String
        package let uploadID: String
        /// What users know the object by; empty where the gateway does not tell it.
        package let fileID: String
        package let etag: String
        /// 0 for an object that was put whole.
        package let parts: Int
        /// CRC-64/XZ of the bytes that were sent; `nil` where an earlier run sent them.
        package let crc64: UInt64?
    }

    private let folder: DeviceFolder
    private let configuration: DeviceConfiguration
    private let calls: DeviceCalls
    private let service: DataGatewayServiceClient<DeviceCalls>
    private let options: Options
    private let clock: ServerClock
    private let notice: @Sendable (UploadNotice) -> Void

    /// - Throws: `DeviceFolder.Failure` for a folder that is not a device's, `TLSError` for useless authorities.
    package init(
        _ folder: DeviceFolder, options: Options, clock: any WallClock,
        notice: @escaping @Sendable (UploadNotice) -> Void
    ) throws {
        let configuration = try folder.initializedConfiguration()
        let endpoints = try folder.endpoints() ?? Endpoints()
        let loop = EventLoop(name: "device")
        let authorities = try endpoints.authorities(options.authorities)
        let retrying = Retrying(policy: options.retries) {
            FailureResponse($0).failureKind
        } notice: { what, reason, delay in
            notice(.waiting(what: what, reason: reason, delay: delay))
        }
        calls = DeviceCalls(
            gateway: GatewayChannel(to: endpoints.gateway, authorities: authorities, loop: loop),
            auth: GatewayChannel(to: endpoints.auth, authorities: authorities, loop: loop),
            credential: configuration.apiKey, clock: clock, retrying: retrying)
        service = DataGatewayServiceClient(calls)
        self.folder = folder
        self.configuration = configuration
        self.options = options
        self.clock = ServerClock(clock)
        self.notice = notice
    }

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

    /// Uploads `path`, whatever stands in the way, as long as that passes. Cancelled, it can be resumed.
    ///
    /// - Parameters:
    ///   - tags: beside those of the device, before which they count. An upload that is resumed keeps its own.
    ///   - expected: the file that was found at `path`, which nobody is to write to until it is stored: any other, one that is
    ///     written to, and a symbolic link are refused with `SourceChange` or a failure to read. `nil` = whatever is there.
    ///   - ownNotice: gets what happens to this file, in the place of the uploader's.
    package func upload(
        _ path: String, tags: [String: String], _ beginning: Beginning, expecting expected: SourceIdentity? = nil,
        notice ownNotice: (@Sendable (UploadNotice) -> Void)? = nil
    ) async throws -> Outcome {
        let notice = ownNotice ?? notice
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        try folder.makeUploads()
        if case .restarting = beginning { try await giveUp(absolute) }
        let ledger = try open(absolute, tags, beginning, expected)
        let state = await ledger.state
        notice(.began(state, acknowledged: state.acknowledgedBytes))
        do {
            let run = UploadRun(
                ledger, service: service, clock: clock,
                transfer: UploadRun.Transfer(
                    retrying: storeRetrying(notice), parallel: options.parallel, refusesWriters: expected != nil,
                    connection: HTTPConnection.Options(
                        authorities: options.authorities, sendLimit: options.sendLimit)), notice: notice)
            let finished = try await run.finish()
            let logicalID = await ledger.state.logicalID ?? ""
            // Before the journal goes: after a crash between the two, the upload is completed once more, and not repeated.
            try options.delivered?.add(
                state.source, crc64: finished.crc64, fileID: finished.fileID, at: clock.now())
            try await ledger.remove()
            return Outcome(
                source: state.source, logicalID: logicalID, uploadID: finished.attempt.upload,
                fileID: finished.fileID, etag: finished.etag, parts: finished.parts, crc64: finished.crc64)
        } catch let change as SourceChange {
            // What is stored can never be completed. Where the gateway cannot be told, the next run does.
            try? await abandon(ledger, "the file \(change.change)")
            throw change
        } catch let failure as SourceFailure {
            try? await abandon(ledger, failure.message)
            throw failure
        }
    }

    private func open(
        _ path: String, _ tags: [String: String], _ beginning: Beginning, _ expected: SourceIdentity?
    ) throws -> UploadLedger {
        let ledger = try UploadLedger.open(UploadJournal.path(of: path, in: folder)) {
            var all = configuration.tags.merging(tags) { $1 }
            all[FileName.tagKey] = Path.name(of: path)
            let source = try SourceIdentity(FileReader(path, followsLinks: expected == nil))
            if let change = expected?.change(to: source) { throw SourceChange(path, change) }
            return .begun(source: source, tags: all, key: Hex.lower(Random.bytes(16)))
        }
        guard let ledger else { throw UnfinishedUpload(path: path) }
        if ledger.isResumed, case .new = beginning { throw UnfinishedUpload(path: path) }
        return ledger
    }

    /// Retries of the store's requests. A call for fresh credentials has been repeated by itself.
    private func storeRetrying(_ notice: @escaping @Sendable (UploadNotice) -> Void) -> Retrying {
        Retrying(policy: options.retries) { error in
            error is CallFailure ? .permanent : FailureResponse(error).failureKind
        } notice: { what, reason, delay in
            notice(.waiting(what: what, reason: reason, delay: delay))
        }
    }

    /// Asks for a token, which the gateway gives where the device's key works.
    package func checkKey() async throws { try await calls.authenticate() }

    /// Ends the unfinished upload of a file, if there is one.
    ///
    /// - Parameter path: absolute.
    package func giveUp(_ path: String) async throws {
        guard let ledger = try UploadLedger.open(UploadJournal.path(of: path, in: folder), begin: { nil }) else {
            return
        }
        try await abandon(ledger, "restarted by the client")
    }

    /// Tells the gateway, and forgets the upload.
    private func abandon(_ ledger: UploadLedger, _ reason: String) async throws {
        let state = await ledger.state
        if let logicalID = state.logicalID, state.attempt != nil {
            do {
                _ = try await service.abortUpload(AbortUploadRequest(logicalUploadID: logicalID, reason: reason))
            } catch let failure as CallFailure where failure.detail == .uploadNotFound {
                // Then there is nothing to give up.
            }
        }
        try await ledger.remove()
    }
}

/// An upload of the file was begun, and did not end.
package struct UnfinishedUpload: Error, Sendable, Hashable {
    package let path: String
}

extension Endpoints {
    /// Whose certificates are taken; `nil` where nothing speaks TLS.
    func authorities(_ file: String?) throws -> TLSAuthorities? {
        [auth, gateway, deviceInit].contains { $0.scheme == .https } ? try TLSAuthorities(file: file) : nil
    }
}
