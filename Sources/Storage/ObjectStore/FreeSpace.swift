import Basics
import Synchronization

/// The limits of free space for uploads: new ones are refused below a floor, so that those in progress can still be written; bodies
/// of those are refused below a second floor, so that the database can.
final class FreeSpace: Sendable {
    let floor: Int64
    /// The free bytes below which no body is written, not even of uploads in progress.
    let bodyFloor: Int64
    private let isReserveReleased: @Sendable () -> Bool
    private let clock: any WallClock
    private let measure: @Sendable () throws -> Int64?
    private let latest = Lock<(second: Int64, bytes: Int64?)?>(nil)

    /// - Parameters:
    ///   - floor: in bytes.
    ///   - isReserveReleased: returns whether the database keeps the free space for writes that make space.
    ///   - measure: returns the number of free bytes, `nil` for no limit; called at most once a second for new uploads.
    init(
        floor: Int64, clock: any WallClock, isReserveReleased: @escaping @Sendable () -> Bool = { false },
        measure: @escaping @Sendable () throws -> Int64?
    ) {
        self.floor = floor
        bodyFloor = Self.bodyFloor(of: floor)
        self.isReserveReleased = isReserveReleased
        self.clock = clock
        self.measure = measure
    }

    /// - Throws: `noSpaceForNewUpload` below the floor.
    func requireForNewUpload() throws {
        guard try !hasSpaceForNewUpload() else { return }
        throw ObjectStoreError.noSpaceForNewUpload
    }

    func hasSpaceForNewUpload() throws -> Bool {
        guard !isReserveReleased() else { return false }
        return try floor == 0 || (free() ?? .max) >= floor
    }

    /// Checks the space before any bytes of a body are written.
    ///
    /// - Throws: `StorageFailure.full` below the second floor.
    func requireForBody() throws {
        // Measured each time: within a second a fast client can write more than the rest.
        guard try isReserveReleased() || (bodyFloor > 0 && (measure() ?? .max) < bodyFloor) else { return }
        throw StorageFailure.full
    }

    /// Returns a quarter of the floor for new uploads, and at most 64 MiB; in bytes.
    static func bodyFloor(of floor: Int64) -> Int64 { min(floor / 4, 64 << 20) }

    /// Returns the free bytes; `nil` = no limit is known.
    func free() throws -> Int64? {
        let second = clock.now().seconds
        return try latest.withLock { latest in
            if let latest, latest.second == second { return latest.bytes }
            let bytes = try measure()
            latest = (second, bytes)
            return bytes
        }
    }
}
