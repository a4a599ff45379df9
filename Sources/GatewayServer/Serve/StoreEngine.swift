package import Backup
package import Basics
import Capability
package import Configuration
package import Database
import DirectoryEngine
import EngineCopy
import FoundationEssentials
package import ObjectStore
import S3Engine
import StoreClient
import Uploads

/// The engine of the object store that the configuration chooses, and the right to use it.
struct StoreEngine: Sendable {
    /// The gateway has no right to the prefix of its bucket any more: another one has it.
    struct PrefixLost: Error, CustomStringConvertible {
        let name: String

        var description: String {
            "the prefix \(name) is no longer this gateway's: another gateway took it over, or its object `owner` was removed"
        }
    }

    /// Objects have their bytes in another engine than the configured one.
    struct BytesElsewhere: Error, CustomStringConvertible {
        let objects: Int
        let uploads: Int
        let configured: ObjectEngineKind

        var description: String {
            let other = configured == .s3 ? ObjectEngineKind.directory : .s3
            let place = configured == .s3 ? "the data directory" : "a bucket"
            return
                "\(objects) objects and \(uploads) multipart uploads have their bytes in \(place), and objects.engine is "
                + "\"\(configured.rawValue)\": set objects.previous_engine to \"\(other.rawValue)\" and copy them with "
                + "`data-gateway objects copy --to \(configured.rawValue)`, or set objects.engine to "
                + "\"\(other.rawValue)\" again"
        }
    }

    /// An engine in a bucket, with the right to its prefix.
    private struct BucketEngine {
        let engine: S3Engine
        let owner: PrefixOwner
        /// The prefix for people.
        let name: String
    }

    let engine: any ObjectEngine
    /// The engine of new objects.
    private let kind: ObjectEngineKind
    /// `nil` for the directory, to which the lock of the data directory is the right.
    private let bucket: BucketEngine?
    /// The metrics of a bucket; `nil` for the directory.
    let bucketMetrics: BucketMetrics?
    private let log: Logger

    /// Both engines, while objects are copied from one to the other.
    var paired: PairedEngines? { engine as? PairedEngines }

    /// Examines a bucket and takes its prefix, or opens the directory, or does both.
    ///
    /// - Parameter database: this process has the right to it.
    static func open(
        _ configuration: StoreConfiguration, _ directory: DataDirectory, _ database: Database, _ log: Logger,
        opened: Closings
    ) async throws -> StoreEngine {
        let kind = configuration.engine.kind
        guard let settings = configuration.engine.s3 else {
            let engine = try DirectoryEngine(path: directory.store, configuration: configuration.files)
            return StoreEngine(engine: engine, kind: kind, bucket: nil, bucketMetrics: nil, log: log)
        }
        let access = try await BucketAccess.open(
            settings, .current(directory, of: database), takesOver: configuration.takesOver, log)
        let owner = access.owner
        opened.add { _ = try? BlockingCall.run { await owner.release() } }
        let bucket = S3Engine(
            settings, access.report, credentials: access.credentials, owner: owner, spoolFolder: directory.path,
            clock: SystemClock())
        bucket.use(.ofDatabase)
        var engine: any ObjectEngine = bucket
        if configuration.engine.previous != nil {
            let files = try DirectoryEngine(path: directory.store, configuration: configuration.files)
            engine = PairedEngines(files, bucket, target: kind)
        }
        return StoreEngine(
            engine: engine, kind: kind, bucket: BucketEngine(engine: bucket, owner: owner, name: settings.name),
            bucketMetrics: BucketMetrics(bucket, ownership: access.activity), log: log)
    }

    /// - Throws: ``BytesElsewhere`` if the database has objects that this engine does not have.
    func requireBytes(of database: Database) throws {
        guard paired == nil else { return }
        let isInBucket = kind == .s3
        let mayBeElsewhere = try database.readBlocking {
            try isInBucket ? StoreRecords($0).directoryHoldsBytes() != false : StoredFile.anyIsSegmented(in: $0)
        }
        guard mayBeElsewhere else { return }
        let left = try database.readBlocking { try StoreRecords($0).countToCopy(inBucket: !isInBucket) }
        guard left.objects + left.uploads == 0 else {
            throw BytesElsewhere(objects: left.objects, uploads: left.uploads, configured: kind)
        }
        // All objects would be counted again at each start.
        if isInBucket { try database.writeBlocking { try StoreRecords($0).setDirectoryHoldsBytes(false) } }
    }

    /// - Throws: if the directory is not the store of the database on a server.
    func requireOwnStore(_ directory: DataDirectory, of database: Database) throws {
        guard kind == .directory, paired == nil else { return }
        try StoreIdentity.requireOwn(directory: directory.store, of: database)
    }

    /// The reason why the engine cannot be used; `nil` = it can.
    var problem: String? {
        bucket?.owner.isConfirmedLately == false ? "the bucket does not respond" : nil
    }

    /// Whether the bucket and the database belong together; `nil` for the directory.
    var bucketState: BucketState? { bucket?.engine.state }

    /// The renewal of the right to the prefix, which ends the gateway if it is lost, and the record of the database's position.
    var background: [BackgroundWork] {
        guard let bucket else { return [] }
        return [
            BackgroundWork("bucket_owner") {
                await bucket.owner.run()
                if case .lost = bucket.owner.ownership, !Task.isCancelled { throw PrefixLost(name: bucket.name) }
            },
            BackgroundWork("bucket_identity") { await recordPosition(of: bucket) },
        ]
    }

    /// Records the position of the database in the bucket until the task is cancelled, and logs a divergence.
    private func recordPosition(of bucket: BucketEngine) async {
        var isReported = false
        var hasFailed = false
        while !Task.isCancelled {
            if let divergence = bucket.engine.state.divergence, !isReported {
                log.write(
                    "the database and the bucket do not belong together",
                    [
                        "bucket": bucket.name, "reason": "\(divergence)", "consequence": "nothing is removed",
                        "hint": "stop the gateway and run data-gateway doctor --objects",
                    ], level: .error)
                isReported = true
            }
            do {
                try await bucket.engine.recordPosition()
                hasFailed = false
            } catch {
                if !hasFailed {
                    log.write(
                        "the position of the database was not recorded in the bucket",
                        ["bucket": bucket.name, "error": "\(error)"], level: .warning)
                }
                hasFailed = true
            }
            try? await Task.sleep(for: S3Engine.recordInterval)
        }
    }
}

extension UploadRegister {
    /// The register in the tables of uploads and of the catalog.
    static let ofDatabase = UploadRegister { uploadID, connection in
        switch try UploadOutcome.of(uploadID: uploadID, in: connection) {
        case .inProgress: .inProgress
        case .ended: .ended
        case .completed: .completed
        case nil: nil
        }
    } isListed: { fileID, connection in
        try CatalogedFiles(connection: connection).isListed(fileID)
    } isDeleted: { fileID, connection in
        try CatalogedFiles(connection: connection).isDeleted(fileID)
    }
}

extension PrefixHolder {
    /// Makes the holder of this process.
    ///
    /// - Parameters:
    ///   - directory: the data directory, locked.
    ///   - database: the right to it, shared or not, is that to the prefix.
    fileprivate static func current(_ directory: DataDirectory, of database: Database?) throws -> PrefixHolder {
        var holder = current(dataDirectory: directory.path, clock: SystemClock())
        if let group = try database?.leaseGroup() { (holder.group, holder.formerGroup) = (group.id, group.former) }
        return holder
    }
}

/// The access of one process to a bucket.
private struct BucketAccess {
    let report: BucketReport
    let credentials: any CredentialSource
    let owner: PrefixOwner
    /// The requests for the ownership.
    let activity: BucketActivity

    /// Examines a bucket, and takes its prefix.
    static func open(
        _ settings: S3EngineConfiguration, _ holder: PrefixHolder, takesOver: Bool, _ log: Logger
    ) async throws -> BucketAccess {
        let clock = SystemClock()
        let credentials = try settings.credentialSource(clock: clock) { ProcessInfo.processInfo.environment[$0] }
        let report = try await BucketProbe.run(
            settings, settings.controlClient(credentials, clock: clock), clock: clock)
        try report.requireUsable(settings, log)
        let activity = BucketActivity(isOwnership: true, clock: clock)
        let control = settings.controlClient(credentials, clock: clock, observer: activity)
        let owner = try await PrefixOwner.take(
            OwnerObject(
                settings, control, honorsConditions: report.honorsConditions,
                comparesBareTags: report.comparesBareTags),
            as: holder, takeOver: takesOver, clock: clock
        ) { ownership in
            log.write("the right to the prefix of the bucket changed", ["state": "\(ownership)"], level: .warning)
        }
        return BucketAccess(report: report, credentials: credentials, owner: owner, activity: activity)
    }
}

/// The bucket of a stopped gateway, whose prefix this process has.
package struct StoppedBucket: Sendable {
    package let objects: any OfflineObjects
    private let owner: PrefixOwner

    /// Opens the bucket of a configuration.
    ///
    /// - Parameters:
    ///   - directory: the data directory of the gateway, locked.
    ///   - server: its database on a server, to which this process has the right; `nil` = it is a file.
    /// - Throws: also if the configuration has another engine.
    package static func open(
        _ configuration: Configuration, _ directory: DataDirectory, server: Database?, _ log: Logger
    ) async throws -> StoppedBucket {
        let store = configuration[StoreConfiguration.self]
        guard let settings = store.engine.s3 else {
            throw DataDirectory.Problem(
                description: "the configuration has no bucket: name that of the gateway with --config")
        }
        let holder = try PrefixHolder.current(directory, of: server)
        let access = try await BucketAccess.open(settings, holder, takesOver: store.takesOver, log)
        let objects = OfflineBucket(
            settings, access.report, credentials: access.credentials, owner: access.owner, register: .ofDatabase,
            clock: SystemClock())
        return StoppedBucket(objects: objects, owner: access.owner)
    }

    /// Gives the prefix up.
    package func close() async { _ = await owner.release() }
}

extension BucketReport {
    /// Logs the findings.
    ///
    /// - Throws: if the bucket must not be used.
    fileprivate func requireUsable(_ settings: S3EngineConfiguration, _ log: Logger) throws {
        let refusals = findings.filter { $0.severity == .refusal }.map(\.message)
        for finding in findings where finding.severity == .warning {
            log.write(
                "a property of the bucket", ["bucket": settings.name, "finding": finding.message], level: .warning)
        }
        guard refusals.isEmpty else {
            throw StorageFailure.engine("\(settings.name): \(refusals.joined(separator: "; "))")
        }
    }
}
