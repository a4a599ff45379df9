import Basics
package import Capability
import Database
import Synchronization

/// The sums of bytes in `object_facets`, and the counts by content type, of objects of versions that did not keep them.
///
/// The objects are added newest first while the gateway serves. The progress is stored in the database, so that a restart repeats
/// nothing.
struct FacetBytesUpgrade: Sendable {
    let database: Database
    let pacing: UpgradePacing
    let progress = FacetBytesProgress()

    /// Returns when all objects are added, or its task is cancelled.
    func run() async { await pacing.run("cannot fill the sums of bytes", advance) }

    private func advance() async throws {
        var isFilling = false
        while let pending = try await database.readInBackground({ try SearchRecords($0).withoutBytes() }) {
            progress.set(pending.upperBound - pending.lowerBound)
            if !isFilling { pacing.log.write("sums of bytes are being filled", ["positions": "\(pending.count)"]) }
            isFilling = true
            let start = ContinuousClock.now
            try await database.write { try SearchRecords($0).enterBytesOfNext(UpgradePacing.batch) }
            try await pacing.pause(since: start)
        }
        progress.set(0)
        if isFilling { pacing.log.write("sums of bytes are filled") }
    }
}

/// Positions up to which objects are not in the sums of bytes yet; any thread may read it at any time.
package final class FacetBytesProgress: MetricSource {
    private let positions = Lock<Int64?>(nil)

    func set(_ remaining: Int64) { positions.withLock { $0 = remaining } }

    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_facet_bytes_upgrade_positions",
                "Positions of objects of earlier versions that are not in the sums of bytes yet.",
                positions.withLock { $0 }.map { [([], Int($0))] } ?? [])
        ]
    }
}

/// The objects that the search tables have.
struct SearchProgress: Sendable {
    static let complete = SearchProgress(lowestObject: 0, withoutBytes: 0..<0)

    /// The columns, beside those of a statement.
    static let columns = """
        coalesce((SELECT u.position FROM search_upgrade u), 0) AS lowest_entered,
        coalesce((SELECT u.lowest FROM facet_bytes_upgrade u), 0) AS lowest_without_bytes,
        coalesce((SELECT u.position FROM facet_bytes_upgrade u), 0) AS end_without_bytes
        """

    /// The position from which on objects have rows.
    private let lowestObject: Int64
    /// The positions of objects that have rows, but are not in the sums of bytes.
    private let withoutBytes: Range<Int64>

    private init(lowestObject: Int64, withoutBytes: Range<Int64>) {
        self.lowestObject = lowestObject
        self.withoutBytes = withoutBytes
    }

    init(_ row: Row) {
        let lowest = row.int64("lowest_without_bytes")
        self.init(
            lowestObject: row.int64("lowest_entered"),
            withoutBytes: lowest..<max(lowest, row.int64("end_without_bytes")))
    }

    func hasObject(at position: Int64) -> Bool { position >= lowestObject }

    func hasBytes(at position: Int64) -> Bool { !withoutBytes.contains(position) }
}

/// The tables of ``FacetBytesUpgrade``.
enum FacetBytesSchema {
    static let migration = Migration(
        name: "catalog-facet-bytes",
        sql: """
            -- bytes: the sum of the sizes of the objects. kind 8: by content type.
            ALTER TABLE object_facets ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

            -- One row at most. Objects from `lowest` on and below `position`, of earlier versions, are not in the sums of bytes, and
            -- not counted by content type.
            CREATE TABLE facet_bytes_upgrade (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                lowest INTEGER NOT NULL,
                position INTEGER NOT NULL
            ) STRICT;
            INSERT INTO facet_bytes_upgrade (id, lowest, position)
            SELECT 1, coalesce((SELECT position FROM search_upgrade), 0), max(position) + 1 FROM objects
            HAVING count(*) > 0;
            """)
}

extension SearchRecords {
    /// Returns the positions of objects that are not in the sums of bytes; `nil` = all are.
    func withoutBytes() throws -> Range<Int64>? {
        try connection.first("SELECT lowest, position FROM facet_bytes_upgrade") { row in
            let lowest = row.int64("lowest")
            return lowest..<max(lowest, row.int64("position"))
        }
    }

    /// Adds the newest objects that are not in the sums of bytes.
    func enterBytesOfNext(_ count: Int) throws where C == Connection {
        guard let pending = try withoutBytes() else { return }
        let objects = try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o WHERE o.position >= $1 AND o.position < $2
            ORDER BY o.position DESC LIMIT $3
            """, pending.lowerBound, pending.upperBound, count
        ) { (position: $0.int64("position"), object: CatalogObject($0)) }
        for (position, object) in objects where object.trashedAt == nil {
            let tags = try ObjectRecords(connection).tags(position: position)
            try enterBytes(of: SearchEntry(object, position: position, tags: tags))
        }
        if let last = objects.last, objects.count == count {
            try connection.execute("UPDATE facet_bytes_upgrade SET position = $1", last.position)
        } else {
            try connection.execute("DELETE FROM facet_bytes_upgrade")
        }
    }
}
