import Glibc
import Platform

/// Whether there is room for new uploads: they are refused while less than a floor is free, so that those under way, and
/// the database, can still be written.
final class FreeSpace: Sendable {
    let floor: Int64
    private let clock: any WallClock
    private let measure: @Sendable () throws -> Int64
    private let latest = Lock<(second: Int64, bytes: Int64)?>(nil)

    /// - Parameters:
    ///   - floor: bytes.
    ///   - measure: how many bytes are free; asked once a second at most.
    init(floor: Int64, clock: any WallClock, measure: @escaping @Sendable () throws -> Int64) {
        self.floor = floor
        self.clock = clock
        self.measure = measure
    }

    /// - Throws: `serviceUnavailable` where there is none.
    func requireForNewUpload() throws {
        guard try !hasRoomForNewUpload() else { return }
        throw StoreError(.serviceUnavailable, "There is no room for new uploads now.")
    }

    func hasRoomForNewUpload() throws -> Bool { try floor == 0 || free() >= floor }

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
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .last() }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}
