import Basics
import Database

/// Enters the objects of earlier versions into what search reads, newest first, while the gateway serves.
///
/// Each transaction is small, and other writes have the writer for as long again behind it. How far it came is in the
/// database, so that a restart repeats nothing.
struct SearchUpgrade: Sendable {
    /// Objects in one transaction.
    private static let batch = 100
    /// Between two reports of the progress.
    private static let reportInterval = Duration.seconds(10)
    /// After a failure.
    private static let retryDelay = Duration.seconds(60)
    /// Between two transactions, at least.
    private static let shortestPause = Duration.milliseconds(5)

    let database: Database
    let log: Logger
    let progress = SearchUpgradeProgress()
    /// Throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Returns when all objects are entered, or its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                return try await advance()
            } catch is CancellationError {
                return
            } catch {
                log.write("cannot fill the search tables", ["error": "\(error)"], level: .error)
                try? await sleep(Self.retryDelay)
            }
        }
    }

    private func advance() async throws {
        var remaining = try await database.readInBackground { try SearchRecords($0).countRemaining() }
        progress.set(remaining)
        guard remaining > 0 else { return try await finish() }
        log.write("search tables are being filled", ["remaining": "\(remaining)"])
        let clock = ContinuousClock()
        var reported = clock.now
        while true {
            let start = clock.now
            let entered = try await database.write { try SearchRecords($0).enterNext(Self.batch) }
            guard entered > 0 else { break }
            remaining = max(0, remaining - entered)
            progress.set(remaining)
            if clock.now - reported >= Self.reportInterval {
                reported = clock.now
                log.write("search tables are being filled", ["remaining": "\(remaining)"])
            }
            try await sleep(max(clock.now - start, Self.shortestPause))
        }
        progress.set(0)
        log.write("search tables are filled")
    }

    private func finish() async throws {
        let isPending = try await database.read { try SearchRecords($0).upgraded() != nil }
        if isPending { _ = try await database.write { try SearchRecords($0).enterNext(Self.batch) } }
    }
}

/// How many objects of earlier versions are not in the search tables yet; read at any time, by any thread.
package final class SearchUpgradeProgress: Sendable {
    private let count = Lock(0)

    package var remaining: Int { count.withLock { $0 } }

    func set(_ remaining: Int) { count.withLock { $0 = remaining } }
}

extension SearchRecords {
    /// How many objects have no rows yet.
    func countRemaining() throws -> Int {
        try connection.first(
            """
            SELECT count(*) AS objects FROM objects
            WHERE position < coalesce((SELECT position FROM search_upgrade), 0)
            """
        ) { $0.int("objects") } ?? 0
    }

    /// Enters the newest objects that have no rows yet.
    ///
    /// - Returns: how many; 0 = all objects have theirs.
    func enterNext(_ count: Int) throws -> Int {
        guard let upgraded = try upgraded() else { return 0 }
        let objects = try connection.query(
            """
            SELECT \(ObjectRecords.columns) FROM objects o WHERE o.position < $1 ORDER BY o.position DESC LIMIT $2
            """, upgraded, count
        ) { (position: $0.int64("position"), object: ObjectRecords.object($0)) }
        for (position, object) in objects {
            let tags = try ObjectRecords(connection).tags(position: position)
            let entry = SearchEntry(try describe(object, at: position, tags: tags), position: position, tags: tags)
            if object.trashedAt == nil { try enter(entry) }
        }
        if let last = objects.last, objects.count == count {
            try connection.execute("UPDATE search_upgrade SET position = $1", last.position)
        } else {
            try connection.execute("DELETE FROM search_upgrade")
        }
        return objects.count
    }

    /// Fills in what earlier versions did not keep of an object.
    private func describe(_ object: CatalogObject, at position: Int64, tags: [String: String]) throws -> CatalogObject {
        guard object.description.name == nil else { return object }
        let name = object.name(tags: tags)
        try connection.execute(
            """
            UPDATE objects SET name = $2, content_type = coalesce(content_type, $3),
                crc64 = coalesce(crc64, (SELECT s.crc64 FROM store_objects s WHERE s.upload_id = objects.upload_id))
            WHERE position = $1
            """, position, name.text, ContentType.detect(declared: nil, fileName: name))
        return try connection.first(
            "SELECT \(ObjectRecords.columns) FROM objects o WHERE o.position = $1", position, row: ObjectRecords.object)
            ?? object
    }
}
