import Database
import Proto

/// The contents of two gateways' databases: of an archive, and the present ones.
struct DataComparison: Sendable {
    /// Names that are listed at most.
    private static let listed = 100

    private(set) var content = DataSummary()
    private(set) var present = DataSummary()
    /// The part of the present data that the archive lacks.
    private(set) var lacking = DataSummary()

    /// Checks that an archive's database can be compared, however it was made.
    ///
    /// - Throws: ``ArchiveError``, `DatabaseError`.
    static func check(_ archive: ReadConnection) throws {
        for kind in DataSummaryRecords.Kind.allCases {
            var cursor = Cursor(kind, archive)
            while try cursor.entry() != nil { cursor.advance() }
        }
    }

    /// Compares entry by entry, with a page of each in memory.
    ///
    /// - Throws: ``ArchiveError``, `DatabaseError`.
    init(archive: ReadConnection, present: ReadConnection) throws {
        for kind in DataSummaryRecords.Kind.allCases {
            var (archived, presents) = (Cursor(kind, archive), Cursor(kind, present))
            while true {
                let (old, now) = (try archived.entry(), try presents.entry())
                if old == nil && now == nil { break }
                if let old, now.map({ !$0.isBefore(old) }) ?? true {
                    Self.add(old, kind, to: &content)
                    archived.advance()
                }
                if let now, old.map({ !$0.isBefore(now) }) ?? true {
                    Self.add(now, kind, to: &self.present)
                    if old.map(now.isBefore) ?? true { Self.add(now, kind, to: &lacking) }
                    presents.advance()
                }
            }
        }
    }

    private static func add(
        _ entry: DataSummaryRecords.Entry, _ kind: DataSummaryRecords.Kind, to summary: inout DataSummary
    ) {
        switch kind {
        case .organization:
            summary.organizations += 1
            if summary.organizationNames.count < listed { summary.organizationNames.append(entry.key) }
        case .user: summary.users += 1
        case .site: summary.sites += 1
        case .device:
            summary.devices += 1
            if summary.deviceIDs.count < listed { summary.deviceIDs.append(entry.key) }
        case .object:
            summary.objects += 1
            // The sizes in an archive's database may be any.
            let (sum, isTooLarge) = summary.objectBytes.addingReportingOverflow(entry.size)
            summary.objectBytes = isTooLarge ? .max : sum
        }
    }

    /// The position in one database's entries of a kind.
    private struct Cursor {
        private let kind: DataSummaryRecords.Kind
        private let records: DataSummaryRecords
        private var page: ArraySlice<DataSummaryRecords.Entry> = []
        private var last = ""
        private var isAtEnd = false

        init(_ kind: DataSummaryRecords.Kind, _ connection: ReadConnection) {
            self.kind = kind
            records = DataSummaryRecords(connection: connection)
        }

        /// Returns the current entry; `nil` at the end.
        mutating func entry() throws -> DataSummaryRecords.Entry? {
            if page.isEmpty, !isAtEnd {
                page = try records.entries(kind, after: last, limit: 1000)[...]
                isAtEnd = page.isEmpty
                try requireProgress()
                last = page.last?.key ?? last
            }
            return page.first
        }

        mutating func advance() { page = page.dropFirst() }

        /// Throws if an entry is not after the one before. A name that is not UTF-8 is read as another one, after which the same entry
        /// would be found again, without an end.
        private func requireProgress() throws {
            guard page.allSatisfy({ last.utf8.lexicographicallyPrecedes($0.key.utf8) && $0.size >= 0 }) else {
                throw ArchiveError.altered("its database has malformed entries")
            }
        }
    }
}
