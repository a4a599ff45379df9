import Basics

/// Whether there is space for uploads: new ones are refused while less than a floor is free, so that those under way can
/// still be written; bodies of those are refused below a second floor, so that the database can.
final class FreeSpace: Sendable {
    let floor: Int64
    /// Below which no body is written, of an upload under way neither; bytes.
    let bodyFloor: Int64
    private let isReserveReleased: @Sendable () -> Bool
    private let clock: any WallClock
    private let measure: @Sendable () throws -> Int64
    private let latest = Lock<(second: Int64, bytes: Int64)?>(nil)

    /// - Parameters:
    ///   - floor: bytes.
    ///   - isReserveReleased: whether the database keeps what is free for writes that make space.
    ///   - measure: how many bytes are free; asked once a second at most for new uploads.
    init(
        floor: Int64, clock: any WallClock, isReserveReleased: @escaping @Sendable () -> Bool = { false },
        measure: @escaping @Sendable () throws -> Int64
    ) {
        self.floor = floor
        bodyFloor = Self.bodyFloor(of: floor)
        self.isReserveReleased = isReserveReleased
        self.clock = clock
        self.measure = measure
    }

    /// - Throws: `noSpaceForNewUpload`.
    func requireForNewUpload() throws {
        guard try !hasRoomForNewUpload() else { return }
        throw ObjectStoreError.noSpaceForNewUpload
    }

    func hasRoomForNewUpload() throws -> Bool {
        guard !isReserveReleased() else { return false }
        return try floor == 0 || free() >= floor
    }

    /// To be asked before any bytes of a body are written.
    ///
    /// - Throws: `StorageFailure.full`.
    func requireForBody() throws {
        // Measured each time: within a second a fast client writes more than what is left.
        guard try isReserveReleased() || (bodyFloor > 0 && measure() < bodyFloor) else { return }
        throw StorageFailure.full
    }

    /// A quarter of the floor for new uploads, and 64 MiB at most; bytes.
    static func bodyFloor(of floor: Int64) -> Int64 { min(floor / 4, 64 << 20) }

    func free() throws -> Int64 {
        let second = clock.now().seconds
        return try latest.withLock { latest in
            if let latest, latest.second == second { return latest.bytes }
            let bytes = try measure()
            latest = (second, bytes)
            return bytes
        }
    }

    /// What a file system has left for this process; bytes.
    static func available(at path: String) throws(StorageFailure) -> Int64 {
        guard let bytes = DiskSpace.available(at: path) else { throw .last() }
        return bytes
    }
}
