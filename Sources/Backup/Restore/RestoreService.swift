package import Accounts
package import Basics
import Crypto
package import Database
import DirectoryEngine
import GRPCWire
import GatewayAPI
import ObjectStore
package import Proto
package import RPC
package import Wire

/// The gRPC service RestoreService, which stages an archive for the next start; see ``RestoreFolder``.
package final class RestoreService: RestoreServiceHandler {
    private let staging: Staging
    private let folder: RestoreFolder
    private let session: ArchiveSession
    private let accounts: Accounts
    private let migrations: [Migration]
    /// For comparisons, each of which reads all rows of two databases.
    private let reads: BackgroundReads
    /// Notified when the process has to end and start again.
    private let restart: Signal
    private let log: Logger

    /// - Parameters:
    ///   - migrations: those of this program.
    ///   - restart: notified when the process has to end and start again.
    package init(
        _ session: ArchiveSession, accounts: Accounts, migrations: [Migration], restart: Signal, log: Logger
    ) {
        self.session = session
        self.accounts = accounts
        self.migrations = migrations
        self.restart = restart
        self.log = log
        reads = BackgroundReads(of: session.database, for: "restore")
        folder = RestoreFolder(directory: session.directory.path)
        staging = Staging(folder.staged)
    }

    package func stageArchive(
        _ request: StageArchiveRequest, context: CallContext
    ) async throws -> StageArchiveResponse {
        let caller = try Caller(context)
        guard session.database.isFile else {
            throw RPCError(
                bare: .failedPrecondition,
                "the database is on a server: restore it there, or restore the archive into a new data directory by data-gateway "
                    + "restore, which makes a gateway with its database in the directory")
        }
        try RestoreRefusal.reporting { try folder.requireOneDisk() }
        let id = Random.hex(16)
        try await audit(caller, on: "restore/\(id)")
        let interrupted = try staging.begin(id)
        do {
            await interrupted?.cancel()
            try await Worker.disk.run { [folder] in
                try folder.make()
                try folder.removeArchive()
            }
        } catch {
            staging.end(id, folder.staged)
            throw RestoreRefusal.of(error)
        }
        staging.expect(id, passphrase: request.passphrase.isEmpty ? nil : Secret(request.passphrase))
        return StageArchiveResponse(stagingID: id)
    }

    package func uploadArchive(
        _ requests: RequestStream<UploadArchiveRequest>, context: CallContext
    ) async throws -> UploadArchiveResponse {
        let caller = try Caller(context)
        var pieces = requests.makeAsyncIterator()
        guard let first = try await pieces.next() else {
            throw RPCError.invalidArgument("staging_id must not be empty")
        }
        let intake = try staging.beginUpload(first.stagingID, from: first.offset) {
            check(as: first.stagingID, passphrase: $0)
        }
        do {
            var piece: UploadArchiveRequest? = first
            while let next = piece {
                let bytes = next.archive?.data ?? []
                if !bytes.isEmpty, await !intake.write(bytes) { break }
                piece = try await pieces.next()
            }
        } catch {
            staging.interruptUpload(first.stagingID)
            throw error
        }
        intake.finish()
        let outcome: Result<StagedDescription, any Error>
        do {
            outcome = .success(try await intake.outcome())
        } catch {
            outcome = .failure(RestoreRefusal.of(error))
        }
        let description = try staging.endUpload(first.stagingID, outcome)
        try await audit(caller, on: "restore/\(first.stagingID)")
        return UploadArchiveResponse(archive: try await compare(description))
    }

    package func getRestore(_ request: GetRestoreRequest, context: CallContext) async throws -> GetRestoreResponse {
        var response = GetRestoreResponse()
        // Before the complete archive, so that one of which the last bytes arrive now is not missed.
        response.arriving = staging.arriving
        if let description = staging.complete { response.archive = try await compare(description) }
        let (result, previous) = try RestoreRefusal.reporting {
            (try folder.outcome.read(in: folder), try folder.previous().last)
        }
        response.lastRestore = result.map(RestoreOutcome.init)
        response.previousData = previous.map { name in
            PreviousData(folder: name, replacedAt: result.map { Timestamp(UnixTime(seconds: $0.finishedAt)) })
        }
        return response
    }

    package func discardArchive(
        _ request: DiscardArchiveRequest, context: CallContext
    ) async throws -> DiscardArchiveResponse {
        let caller = try Caller(context)
        let intake = try staging.beginDiscard(request.stagingID)
        do {
            await intake?.cancel()
            try await Worker.disk.run { [folder] in try folder.removeArchive() }
        } catch {
            staging.end(request.stagingID, folder.staged)
            throw RestoreRefusal.of(error)
        }
        staging.end(request.stagingID, nil)
        try await audit(caller, on: "restore/\(request.stagingID)")
        return DiscardArchiveResponse()
    }

    package func applyArchive(
        _ request: ApplyArchiveRequest, context: CallContext
    ) async throws -> ApplyArchiveResponse {
        let caller = try Caller(context)
        guard let description = staging.complete, description.stagingID == request.stagingID else {
            throw RPCError.notFound("no complete archive is staged with this staging_id: stage it again")
        }
        guard try RestoreRefusal.reporting({ try folder.previous().isEmpty }) else {
            throw RPCError(
                bare: .failedPrecondition,
                "the previous data of an earlier restore are still there: delete them, or return to them, first")
        }
        guard try await !session.database.read({ try StoredFile.anyIsSegmented(in: $0) }) else {
            throw RPCError(
                bare: .failedPrecondition,
                "the objects have their bytes in a bucket: restore the archive into a new data directory by data-gateway "
                    + "restore, which makes a gateway with objects.engine \"directory\"")
        }
        try await accounts.requirePassword(Secret(request.password), of: caller)
        try requireSpace(for: description, try await compare(description))
        try await requestRestart(
            .archive, caller, on: "restore/\(description.stagingID)", applying: description.stagingID)
        return ApplyArchiveResponse()
    }

    package func returnToPreviousData(
        _ request: ReturnToPreviousDataRequest, context: CallContext
    ) async throws -> ReturnToPreviousDataResponse {
        let caller = try Caller(context)
        let previous = try requirePrevious()
        try await accounts.requirePassword(Secret(request.password), of: caller)
        try await requestRestart(.previous(previous), caller, on: previous)
        return ReturnToPreviousDataResponse()
    }

    package func deletePreviousData(
        _ request: DeletePreviousDataRequest, context: CallContext
    ) async throws -> DeletePreviousDataResponse {
        let caller = try Caller(context)
        let previous = try requirePrevious()
        try await accounts.requirePassword(Secret(request.password), of: caller)
        // Before the audit line, which would tell of a deletion that is refused.
        try staging.excludingRestart {}
        try await audit(caller, on: previous)
        try staging.excludingRestart {
            try RestoreRefusal.reporting { try folder.delete(previous: try requirePrevious()) }
        }
        folder.beginRemovingDeleted(log)
        return DeletePreviousDataResponse()
    }

    /// Writes the audit lines of restores that were completed at the start.
    package func recordOutcome() async throws {
        guard var result = try folder.outcome.read(in: folder), !result.isAudited else { return }
        let target = result.createdAt.map { "backups/\($0)" } ?? "previousData"
        var entry = AuditEntry.byGateway("Restore", on: target)
        if result.failure != nil { entry.result = "FAILED" }
        try await session.database.write { [entry, now = session.clock.now()] in
            try Audit.record(entry, at: now, in: $0)
        }
        result.isAudited = true
        try folder.outcome.write(result, in: folder)
    }
}

extension RestoreService {
    /// Stores and checks an archive on a thread of its own, which waits for the client.
    private func check(as stagingID: String, passphrase: Secret?) -> ArchiveIntake<StagedDescription> {
        let intake = ArchiveIntake<StagedDescription>()
        Worker.thread("restore").post { [folder, session, migrations] in
            intake.end(
                Result {
                    let storeID = try OfflineStore(directory: session.directory.store).identity?.id
                    return try ArchiveStaging(
                        folder: folder, storeID: storeID, minimumFreeBytes: session.store.minimumFreeBytes,
                        migrations: migrations
                    ).store(intake, as: stagingID, passphrase: passphrase)
                })
        }
        return intake
    }

    private func compare(_ description: StagedDescription) async throws -> StagedArchive {
        let contents = folder.contents
        let (comparison, storeID) = try await reads.run { present in
            let comparison = try Database.inspect(path: contents) { archive in
                try DataComparison(archive: archive, present: present)
            }
            return (comparison, try StoreIdentity.recorded(in: present)?.id)
        }
        return StagedArchive(
            stagingID: description.stagingID,
            backupTime: RFC3339.parse(description.createdAt).map { Timestamp($0.time) }, sizeBytes: description.size,
            hasObjects: description.hasObjects, isOfThisGateway: description.storeID == storeID,
            missingObjects: Int64(description.missing), damagedObjects: Int64(description.damaged),
            content: comparison.content, present: comparison.present, lacking: comparison.lacking)
    }

    /// Throws unless the disk has space for the archive's objects, except those that the store has.
    private func requireSpace(for description: StagedDescription, _ archive: StagedArchive) throws {
        let present = (archive.present?.objectBytes ?? 0) - (archive.lacking?.objectBytes ?? 0)
        let missing = description.objectBytes - (archive.isOfThisGateway ? present : 0)
        let needed = session.store.minimumFreeBytes + max(0, missing)
        guard let free = DiskSpace.available(at: folder.path), free < needed else { return }
        throw RPCError(
            bare: .failedPrecondition,
            "the restore may need \(needed) bytes on the disk of the data directory, which has \(free) bytes free")
    }

    private func requirePrevious() throws -> String {
        guard let previous = try RestoreRefusal.reporting({ try folder.previous().last }) else {
            throw RPCError.notFound("there are no previous data")
        }
        return previous
    }

    private func requestRestart(
        _ source: RestoreRequest.Source, _ caller: Caller, on target: String, applying stagingID: String? = nil
    ) async throws {
        try staging.beginRestart(applying: stagingID)
        do {
            // They may have been deleted while the password was checked.
            if case .previous = source { _ = try requirePrevious() }
            try await audit(caller, on: target)
            let request = RestoreRequest(source: source, requestedBy: caller.did(to: target).actor)
            try RestoreRefusal.reporting {
                try folder.make()
                try folder.request.write(request, in: folder)
            }
        } catch {
            // A request whose write failed may have reached the disk, and would be followed at a later start.
            try? folder.request.remove(in: folder)
            staging.endRestart()
            throw error
        }
        restart.notify()
    }

    private func audit(_ caller: Caller, on target: String) async throws {
        try await session.database.write { [now = session.clock.now()] in
            try Audit.record(caller.did(to: target), at: now, in: $0)
        }
    }
}

/// The errors of a restore as a client gets them.
enum RestoreRefusal {
    /// Runs `body`; throws its error as a client gets it.
    static func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw of(error)
        }
    }

    /// Returns the error that a client gets: what is wrong with an archive is the client's, and a full disk the gateway's.
    static func of(_ error: any Error) -> any Error {
        switch error {
        case ArchiveError.passphraseMissing:
            RPCError.invalidArgument("passphrase must not be empty, because the archive is encrypted")
        case ArchiveError.passphraseUnexpected:
            RPCError.invalidArgument("passphrase must be empty, because the archive is not encrypted")
        case let error as ArchiveError: RPCError.invalidArgument(error.description)
        case let error as DataDirectory.Problem: RPCError(bare: .failedPrecondition, error.description)
        case let error as DatabaseError: RPCError.invalidArgument("the archive's database cannot be used: \(error)")
        default: error
        }
    }
}
