import Accounts
import Basics
import Capability
import Catalog
import Database
import GatewayFormats
import ObjectStore
import Proto

/// The disk of the objects, and when it is full.
struct StoreDisk: MetricSource {
    let database: Database
    let store: ObjectStore

    func forecast(in connection: some ReadConnection) throws -> StoreForecast {
        let now = store.clock.now()
        let free = store.freeBytes
        // Without a disk, nothing has to be read.
        let growth = free == nil ? nil : try StorageGrowth.read(at: now, in: connection)
        return StoreForecast(free: free, minimum: store.minimumFreeBytes, growth: growth, now: now)
    }

    var families: [MetricFamily] {
        let forecast = try? database.readBlocking { try self.forecast(in: $0) }
        return [
            .gauge(
                "data_gateway_store_size_bytes", "Bytes of the file system of the objects, free or not.",
                store.sizeBytes.map { [([], Int($0))] } ?? []),
            .gauge(
                "data_gateway_store_growth_bytes_per_day",
                "Bytes of stored objects without those of deleted ones, a day, averaged over up to 14 days; no sample without enough history.",
                forecast?.growth.map { [([], Int($0.bytesPerDay))] } ?? []),
            .gauge(
                "data_gateway_store_full_timestamp_seconds",
                "Unix time in seconds when new uploads are refused if the growth stays; no sample if that is not within ten years.",
                forecast?.fullAt.map { [([], Int($0.seconds))] } ?? []),
        ]
    }
}

extension DiskForecast {
    init(_ forecast: StoreForecast) {
        self.init(
            state: forecast.state, bytesPerDay: forecast.growth?.bytesPerDay ?? 0,
            days: Int32(clamping: forecast.growth?.days ?? 0), fullAt: forecast.fullAt.map { Timestamp($0) })
    }
}

extension StoreForecast {
    fileprivate var state: DiskForecastState {
        switch self {
        case .noDisk: .noDisk
        case .full: .full
        case .notEnoughHistory: .notEnoughHistory
        case .notGrowing: .notGrowing
        case .growing: .growing
        }
    }
}
