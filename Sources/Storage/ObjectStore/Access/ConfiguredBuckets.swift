import Basics
import Database

/// The buckets and the static keys of a store's configuration.
struct ConfiguredBuckets: Sendable {
    let byName: [String: StoreBucket]
    /// The time when the gateway first started with a bucket, by its name.
    let times: [String: UnixTime]
    /// By their ids.
    let staticKeys: [String: StaticKey]

    init(_ configuration: ObjectStoreConfiguration, at now: UnixTime, in database: Database) throws {
        byName = Dictionary(configuration.buckets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        times = try Self.times(of: configuration, at: now, in: database)
        staticKeys = Dictionary(configuration.staticKeys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Records the buckets of the configuration that have no row yet, and returns the times of all.
    private static func times(
        of configuration: ObjectStoreConfiguration, at now: UnixTime, in database: Database
    ) throws -> [String: UnixTime] {
        let names = Set(configuration.buckets.map(\.name) + configuration.staticKeys.map(\.bucket))
        var times = try database.readBlocking { try StoreRecords($0).bucketTimes() }
        let new = names.filter { times[$0] == nil }
        guard !new.isEmpty else { return times }
        try database.writeBlocking(mayUseReserve: true) { connection in
            for name in new { try StoreRecords(connection).recordBucket(name, at: now) }
        }
        for name in new { times[name] = now }
        return times
    }
}
