package import Basics

extension ReadConnection {
    /// The time by which claims of several processes end: that of the server; for a file, which one process uses, that of `clock`.
    package final func time(_ clock: any WallClock) throws -> UnixTime {
        guard session.isRemote else { return clock.now() }
        let now = try first("SELECT \(LeaseRecords.now) AS now") { $0.time("now") }
        return now ?? clock.now()
    }
}
