import Basics
import Database

/// Combines lines of devices and programs that only differ in their targets and minutes, and views of one object by one person.
///
/// A fleet writes thousands of lines an hour, among which the lines of people are lost.
struct AuditFold {
    /// The lines that are combined: those of one hour of UTC.
    private struct Key: Hashable {
        let hour: Int64
        let organizationID: Int64?
        let actor: String
        let action: String
        let result: String
        /// The object of a view; empty for a device, whose lines are combined whatever their targets.
        let target: String
    }

    /// The action of a view, which its person repeats.
    private static let view = "ViewObjects"

    private static let microsecondsOfHour: Int64 = 3_600_000_000
    /// The largest number of lines of a page whose hour has not ended.
    private static let mostLines = 1000
    /// The size of a line in a page beside its texts.
    private static let overhead = 64

    private let limit: PageLimit
    /// The indexes of the combined lines.
    private var places: [Key: Int] = [:]
    private var hour: Int64?
    private var bytes = 0
    /// The lines, newest first.
    private(set) var records: [AuditRecord] = []

    init(limit: PageLimit) {
        self.limit = limit
    }

    /// Adds the next line, which is not newer than the one before.
    ///
    /// - Returns: whether the page has space for it. If not, it is the first line of the next page.
    mutating func add(_ record: AuditRecord) -> Bool {
        let hour = record.at.microseconds / Self.microsecondsOfHour
        let entry = record.entry
        let isView = entry.action == Self.view && entry.ids.isEmpty
        let key = Key(
            hour: hour, organizationID: entry.organization?.id, actor: entry.actor, action: entry.action,
            result: entry.result, target: isView ? entry.target : "")
        let isFolded = entry.isOfKey || isView
        if isFolded, let place = places[key] {
            records[place].combine(with: record)
            return true
        }
        // Full pages end between two hours, so that an hour's lines are on one page.
        let isFull = records.count >= (hour == self.hour ? Self.mostLines : limit.rows)
        let size = Self.overhead + entry.target.utf8.count + entry.ids.reduce(0) { $0 + $1.utf8.count + 2 }
        guard records.isEmpty || !isFull && bytes + size <= limit.bytes else { return false }
        self.hour = hour
        bytes += size
        if isFolded { places[key] = records.count }
        records.append(record)
        return true
    }
}

extension AuditRecord {
    fileprivate mutating func combine(with older: AuditRecord) {
        lines += 1
        firstAt = older.at
        entry.count += older.entry.count
        entry.ids = []
        if entry.peer != older.entry.peer { entry.peer = "" }
    }
}
