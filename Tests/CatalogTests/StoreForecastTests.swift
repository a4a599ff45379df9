import Basics
import Database
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct StoreForecastTests {
    private static let today: Int64 = 20_000
    private static let gib: Int64 = 1 << 30

    private func growth(_ changes: [Int64: Int64]) -> StorageGrowth? {
        StorageGrowth(
            changes: Dictionary(uniqueKeysWithValues: changes.map { (Self.today + $0.key, $0.value) }),
            today: Self.today)
    }

    @Test func growthIsTheAverageOfTheLastDays() {
        let steady = growth(Dictionary(uniqueKeysWithValues: (-100...0).map { ($0, Self.gib) }))
        #expect(steady?.bytesPerDay == Self.gib && steady?.days == 14)
        // Since the first day, if there was nothing before.
        let young = growth([-4: 4 * Self.gib, -2: 4 * Self.gib])
        #expect(young?.bytesPerDay == 2 * Self.gib && young?.days == 4)
        // A pause after earlier use is part of the average.
        let paused = growth([-30: 5, -2: 14 * Self.gib])
        #expect(paused?.bytesPerDay == Self.gib && paused?.days == 14)
        #expect(growth([-5: Self.gib, -3: -6 * Self.gib])?.bytesPerDay == -Self.gib)
    }

    /// Today is not complete, and days in the future or long ago are those of a wrong clock.
    @Test(
        arguments: [
            [:], [0: gib], [-1: gib], [-2: gib, -1: gib], [400: gib, 3: gib], [-15_000: gib], [-15_000: gib, -1: gib],
            [-30: gib], [-15_000: gib, 5000: gib, -2: gib],
        ] as [[Int64: Int64]])
    func tooFewDaysTellNothing(_ changes: [Int64: Int64]) {
        #expect(growth(changes) == nil)
        let forecast = StoreForecast(free: 100, minimum: 10, growth: growth(changes), now: UnixTime(seconds: 0))
        #expect(forecast == .notEnoughHistory)
    }

    @Test func extremeNumbersAreNoTrap() {
        #expect(growth([-3: .max, -2: .max, -1: .max])?.bytesPerDay == .max)
        #expect(growth([-3: .min, -2: .min])?.bytesPerDay ?? 0 < 0)
        let fast = StoreForecast(
            free: .max, minimum: 0, growth: growth([-3: 1, -2: 1, -1: 1]), now: UnixTime(seconds: 0))
        #expect(fast.fullAt == nil && fast.growth?.bytesPerDay == 1)
    }

    @Test func diskIsFullWhenOnlyTheMinimumIsFree() {
        let now = UnixTime(seconds: Self.today * 86_400)
        let growth = growth([-4: 8 * Self.gib])
        func forecast(_ free: Int64?, _ minimum: Int64 = 2 * Self.gib) -> StoreForecast {
            StoreForecast(free: free, minimum: minimum, growth: growth, now: now)
        }
        #expect(forecast(22 * Self.gib).fullAt == now.adding(seconds: 10 * 86_400))
        #expect(forecast(2 * Self.gib).fullAt == now)
        #expect(forecast(2 * Self.gib - 1) == .full(growth))
        #expect(forecast(0, 0) == .full(growth))
        #expect(forecast(nil) == .noDisk)
        let shrinking = StoreForecast(free: 9, minimum: 1, growth: self.growth([-4: 1, -3: -1]), now: now)
        #expect(shrinking.fullAt == nil && shrinking != .notEnoughHistory && shrinking.growth?.bytesPerDay == 0)
    }

    @Test func growthIsReadOfAllOrganizations() async throws {
        let scene = try CatalogScene()
        try scene.setTrash(days: 0)
        for day in 0..<5 {
            try scene.add(size: 300, organization: 1)
            try scene.add(bytes: [UInt8](repeating: 1, count: 100), organization: 2)
            if day == 0 {
                let object = try scene.add(bytes: [1])
                _ = try await scene.removal.delete(object.fileID, reason: "", by: scene.caller())
            }
            scene.clock.advance(seconds: 86_400)
        }
        let read = try scene.database.readBlocking { try StorageGrowth.read(at: scene.clock.now(), in: $0) }
        #expect(read?.bytesPerDay == 400 && read?.days == 5)
        // A clock that jumps far ahead, or back.
        for step: Int64 in [4000, -8000] {
            scene.clock.advance(seconds: step * 86_400)
            let read = try scene.database.readBlocking { try StorageGrowth.read(at: scene.clock.now(), in: $0) }
            #expect(read == nil, "\(step)")
        }
    }
}
