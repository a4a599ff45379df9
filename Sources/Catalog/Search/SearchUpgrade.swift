import Basics
package import Capability
import Database
import Synchronization

/// Adds the objects of earlier versions to the search tables, newest first, while the gateway serves.
///
/// The progress is stored in the database, so that a restart repeats nothing.
struct SearchUpgrade: Sendable {
    /// The time between two reports of the progress.
    private static let reportInterval = Duration.seconds(10)

    let database: Database
    let pacing: UpgradePacing
    let progress = SearchUpgradeProgress()

    /// Returns when all objects are added, or its task is cancelled.
    func run() async { await pacing.run("cannot fill the search tables", advance) }

    private func advance() async throws {
        var remaining = try await database.readInBackground { try SearchRecords($0).countRemaining() }
        guard remaining > 0 else {
            try await finish()
            return progress.set(0)
        }
        progress.set(remaining)
        pacing.log.write("search tables are being filled", ["remaining": "\(remaining)"])
        let clock = ContinuousClock()
        var reported = clock.now
        while true {
            let start = clock.now
            let entered = try await database.write { try SearchRecords($0).enterNext(UpgradePacing.batch) }
            guard entered > 0 else { break }
            remaining = max(0, remaining - entered)
            progress.set(remaining)
            if clock.now - reported >= Self.reportInterval {
                reported = clock.now
                pacing.log.write("search tables are being filled", ["remaining": "\(remaining)"])
            }
            try await pacing.pause(since: start)
        }
        progress.set(0)
        pacing.log.write("search tables are filled")
    }

    private func finish() async throws {
        let isPending = try await database.read { try SearchRecords($0).upgraded() != nil }
        if isPending { _ = try await database.write { try SearchRecords($0).enterNext(UpgradePacing.batch) } }
    }
}

/// The number of objects of earlier versions that are not in the search tables yet; any thread may read it at any time.
package final class SearchUpgradeProgress: Sendable {
    private let count = Lock<Int?>(nil)

    /// `nil` until the objects are counted after a start.
    package var remaining: Int? { count.withLock { $0 } }

    func set(_ remaining: Int) { count.withLock { $0 = remaining } }
}

extension SearchRecords {
    /// Counts the objects without rows.
    func countRemaining() throws -> Int {
        try connection.first(
            """
            SELECT count(*) AS objects FROM objects
            WHERE position < coalesce((SELECT position FROM search_upgrade), 0)
            """
        ) { $0.int("objects") } ?? 0
    }

    /// Adds the newest objects without rows.
    ///
    /// - Returns: the number of added objects; 0 = all objects have rows.
    func enterNext(_ count: Int) throws -> Int where C == Connection {
        guard let upgraded = try upgraded() else { return 0 }
        let objects = try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o WHERE o.position < $1 ORDER BY o.position DESC LIMIT $2
            """, upgraded, count + 1
        ) { (position: $0.int64("position"), object: CatalogObject($0)) }
        // One more than asked for says whether any is left, so that the last object and the end are one transaction.
        for (position, object) in objects.prefix(count) {
            let tags = try ObjectRecords(connection).tags(position: position)
            let entry = SearchEntry(try describe(object, at: position, tags: tags), position: position, tags: tags)
            try connection.execute(
                "UPDATE objects SET tag_texts = $2 WHERE position = $1", position, TagTexts.text(of: tags))
            if object.trashedAt == nil { try enter(entry) }
        }
        if objects.count > count {
            try connection.execute("UPDATE search_upgrade SET position = $1", objects[count - 1].position)
        } else {
            try connection.execute("DELETE FROM search_upgrade")
        }
        return min(count, objects.count)
    }

    /// Adds the name that earlier versions did not store for an object.
    private func describe(_ object: CatalogObject, at position: Int64, tags: [String: String]) throws -> CatalogObject
    where C == Connection {
        guard object.description.name == nil else { return object }
        let name = object.name(tags: tags)
        try connection.execute(
            """
            UPDATE objects SET name = $2, content_type = coalesce(content_type, $3),
                crc64 = coalesce(crc64, (SELECT s.crc64 FROM store_objects s WHERE s.upload_id = objects.upload_id))
            WHERE position = $1
            """, position, name.text, ContentType.detect(declared: nil, fileName: name))
        return try connection.first(
            "SELECT \(CatalogObject.columns) FROM objects o WHERE o.position = $1", position, row: CatalogObject.init)
            ?? object
    }
}

extension SearchUpgradeProgress: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_search_upgrade_objects",
                "Objects of earlier versions that are not in the search tables yet.",
                remaining.map { [([], $0)] } ?? [])
        ]
    }
}
