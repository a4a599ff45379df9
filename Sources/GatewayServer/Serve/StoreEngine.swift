import Backup
import Basics
import Capability
import Database
import DirectoryEngine
import FoundationEssentials
import ObjectStore
import S3Engine
import StoreClient

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
        let count: Int
        let isInBucket: Bool

        var description: String {
            isInBucket
                ? "\(count) objects have their bytes in a bucket, and objects.engine is \"directory\": set it to \"s3\" "
                    + "again"
                : "\(count) objects have their bytes in the data directory, and objects.engine is \"s3\": set it to "
                    + "\"directory\" again"
        }
    }

    let engine: any ObjectEngine
    /// The right to a prefix of a bucket; `nil` for the directory, to which the lock of the data directory is the right.
    private let ownership: (owner: PrefixOwner, name: String)?

    /// Examines a bucket and takes its prefix, or opens the directory.
    static func open(
        _ configuration: StoreConfiguration, _ directory: DataDirectory, _ log: Logger, opened: Closings
    ) async throws -> StoreEngine {
        guard let settings = configuration.engine.s3 else {
            let engine = try DirectoryEngine(path: directory.store, configuration: configuration.files)
            return StoreEngine(engine: engine, ownership: nil)
        }
        let clock = SystemClock()
        let credentials = try settings.credentialSource(clock: clock) { ProcessInfo.processInfo.environment[$0] }
        let control = settings.controlClient(credentials, clock: clock)
        let report = try await BucketProbe.run(settings, control, clock: clock)
        try report.requireUsable(settings, log)
        let owner = try await PrefixOwner.take(
            OwnerObject(
                settings, control, honorsConditions: report.honorsConditions,
                comparesBareTags: report.comparesBareTags),
            as: .current(dataDirectory: directory.path, clock: clock), takeOver: configuration.takesOver, clock: clock
        ) { ownership in
            log.write("the right to the prefix of the bucket changed", ["state": "\(ownership)"], level: .warning)
        }
        opened.add { _ = try? BlockingCall.run { await owner.release() } }
        let engine = S3Engine(
            settings, report, credentials: credentials, owner: owner, spoolFolder: directory.path, clock: clock)
        return StoreEngine(engine: engine, ownership: (owner, settings.name))
    }

    /// - Throws: ``BytesElsewhere`` if the database has objects that this engine does not have.
    func requireBytes(of database: Database) throws {
        let isInBucket = ownership != nil
        let (areSegmented, count) = try database.readBlocking {
            (try StoredFile.areSegmented(in: $0), try StoredFile.count(in: $0))
        }
        if let areSegmented, areSegmented != isInBucket {
            throw BytesElsewhere(count: count, isInBucket: areSegmented)
        }
    }

    /// The renewal of the right to the prefix, which ends the gateway if it is lost.
    var background: [BackgroundWork] {
        guard let (owner, name) = ownership else { return [] }
        return [
            BackgroundWork("bucket_owner") {
                await owner.run()
                if case .lost = owner.ownership, !Task.isCancelled { throw PrefixLost(name: name) }
            }
        ]
    }
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
