package import Basics
package import Database

/// The growth of the stored objects on the last days, and when it fills the disk.
package enum StoreForecast: Sendable, Equatable {
    /// The free bytes are unknown, or the objects are in a bucket.
    case noDisk
    /// Fewer bytes are free than new uploads need.
    case full(StorageGrowth?)
    case notEnoughHistory
    /// No more was stored than deleted.
    case notGrowing(StorageGrowth)
    /// - Parameter fullAt: the time from which on new uploads are refused; `nil` = more than ten years later.
    case growing(StorageGrowth, fullAt: UnixTime?)

    private static let horizon = Double(3650)

    /// - Parameters:
    ///   - free: the free bytes; `nil` = unknown.
    ///   - minimum: the free bytes below which new uploads are refused.
    ///   - growth: `nil` = not known.
    package init(free: Int64?, minimum: Int64, growth: StorageGrowth?, now: UnixTime) {
        guard let free else {
            self = .noDisk
            return
        }
        if free < minimum || free <= 0 {
            self = .full(growth)
            return
        }
        guard let growth else {
            self = .notEnoughHistory
            return
        }
        guard growth.bytesPerDay > 0 else {
            self = .notGrowing(growth)
            return
        }
        let days = Double(free - minimum) / Double(growth.bytesPerDay)
        self = .growing(growth, fullAt: days <= Self.horizon ? now.adding(seconds: Int64(days * 86_400)) : nil)
    }

    package var growth: StorageGrowth? {
        switch self {
        case .noDisk, .notEnoughHistory: nil
        case .full(let growth): growth
        case .notGrowing(let growth), .growing(let growth, _): growth
        }
    }

    package var fullAt: UnixTime? {
        guard case .growing(_, let time) = self else { return nil }
        return time
    }
}

/// The average of what was stored a day, without what was deleted.
package struct StorageGrowth: Sendable, Equatable {
    /// The numbers of complete days: the most that are averaged, the fewest that tell anything, and those before them in which any
    /// change shows that the gateway was in use.
    private static let (most, fewest, before): (Int64, Int64, Int64) = (14, 3, 90)

    package let bytesPerDay: Int64
    /// The number of complete days that it is the average of.
    package let days: Int64

    /// Averages over the last 14 days, or, if nothing changed in the 90 days before, over those since the first day with a change. Days
    /// that a wrong clock made, in the future or long ago, do not count.
    ///
    /// - Parameters:
    ///   - changes: by day since 1970, the bytes of stored objects without those of deleted ones.
    ///   - today: which is not complete.
    /// - Returns: `nil` if that are fewer than three days, or nothing was changed on them.
    init?(changes: [Int64: Int64], today: Int64) {
        let window = today - Self.most..<today
        guard let first = changes.keys.filter(window.contains).min() else { return nil }
        let wasUsed = changes.keys.contains { (today - Self.most - Self.before..<today - Self.most).contains($0) }
        let start = wasUsed ? window.lowerBound : first
        days = today - start
        guard days >= Self.fewest else { return nil }
        let sum = changes.reduce(into: Double(0)) { if window.contains($1.key) { $0 += Double($1.value) } }
        bytesPerDay = Int64(exactly: (sum / Double(days)).rounded()) ?? .max
    }

    /// Reads the growth of all organizations.
    package static func read(at now: UnixTime, in connection: some ReadConnection) throws -> StorageGrowth? {
        let today = StatisticsSchema.day(of: now)
        let changes = try StatisticsRecords(connection).changes(in: today - most - before..<today)
        return StorageGrowth(changes: changes, today: today)
    }
}
