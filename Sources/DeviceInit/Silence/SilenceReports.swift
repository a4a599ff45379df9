import Accounts
import Basics
import Database
import Webhooks

/// Reports devices that became silent, and those that returned: with an event and a line of the audit log, once for each silence.
///
/// The report is a column of the device, which is written in the transaction of the event. One gateway of all with the same database
/// looks at a time; each transaction decides again, so a second one would find nothing.
struct SilenceReports: Sendable {
    /// The number of devices that one look reports at most; the next look continues.
    private static let mostReports = 10_000
    /// The number of devices in one transaction, during which other writes wait.
    static let batch = 100

    let database: Database
    let outbox: Outbox
    let clock: any WallClock
    /// The limit of devices for which nobody set one, in hours; 0 = never.
    let defaultHours: Int64

    /// Looks at all devices.
    ///
    /// - Parameter permit: `nil` while the clock is not trusted: devices may return, but none becomes silent.
    func run(_ permit: DeletionPermit?) async throws {
        guard let watch = try await watch(permit) else { return }
        let hours = defaultHours
        let outdated = try await database.readInBackground { connection in
            try SilenceRecords(connection, defaultHours: hours).outdated(permit, watch, limit: Self.mostReports)
        }
        try await inBatches(outdated) { records, ids in
            let found = try records.outdated(permit, watch, among: ids, limit: ids.count)
            try records.withdraw(found.map(\.deviceID))
            return found.filter(\.hasReturned).map { ($0, .deviceReturned($0), "ReportReturnedDevice") }
        }
        guard let permit else { return }
        let overdue = try await database.readInBackground { connection in
            try SilenceRecords(connection, defaultHours: hours).overdue(permit, watch, limit: Self.mostReports)
        }
        try await inBatches(overdue) { records, ids in
            let found = try records.overdue(permit, watch, among: ids, limit: ids.count)
            try records.report(found.map(\.deviceID))
            return found.map { ($0, .deviceSilent($0), "ReportSilentDevice") }
        }
    }

    /// Records the look, and returns the watch until now; `nil` before the first look.
    private func watch(_ permit: DeletionPermit?) async throws -> SilenceWatch? {
        let hours = defaultHours
        let recorded = try await database.read { try SilenceRecords($0, defaultHours: hours).watch() }
        guard let permit else { return recorded }
        let now = try permit.now()
        guard let recorded else {
            let first = SilenceWatch(at: now)
            try await database.write { try SilenceRecords($0, defaultHours: hours).record(first) }
            return first
        }
        guard let watch = recorded.looking(at: now) else { return recorded }
        try await database.write { try SilenceRecords($0, defaultHours: hours).record(watch) }
        return watch
    }

    /// - Parameter change: writes the reports of some devices, and returns those that others are notified of, with the event and the action in the
    ///   audit log.
    private func inBatches(
        _ devices: [DeviceSilence],
        _ change: @escaping @Sendable (SilenceRecords<Connection>, [String]) throws -> [(DeviceSilence, Event, String)]
    ) async throws {
        let hours = defaultHours
        for start in stride(from: 0, to: devices.count, by: Self.batch) {
            try Task.checkCancellation()
            let ids = devices[start..<min(start + Self.batch, devices.count)].map(\.deviceID)
            let now = clock.now()
            try await database.write { connection in
                for (device, event, action) in try change(SilenceRecords(connection, defaultHours: hours), ids) {
                    var entry = AuditEntry.byGateway(action, on: ResourceName.device(device.deviceID))
                    entry.organization = device.organization
                    try Audit.record(entry, at: now, in: connection)
                    try outbox.record(event, organization: device.organization, at: now, in: connection)
                }
            }
        }
    }
}
