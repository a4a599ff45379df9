import CPQ

/// The rows of a statement, which are read one at a time, so that the program does not have all of them at once.
///
/// The server sends all of them. If another statement is sent before the last one was read, the rest is kept here.
final class PostgresRows {
    private let link: PostgresLink
    /// The longest wait for a row.
    private let limit: Duration
    /// The rows that were read before they were asked for; an error may be the last one.
    private(set) var kept: ArraySlice<PostgresResult> = []
    private var isComplete = false

    /// - Parameter link: it has sent the statement as the last one of a message, and has read the results of those before it.
    init(of link: PostgresLink, waiting limit: Duration) {
        self.link = link
        self.limit = limit
    }

    /// Returns the next row, or the error of the statement; `nil` at the end.
    func next() throws(DatabaseError) -> PostgresResult? {
        if let row = kept.popFirst() { return row }
        return try read()
    }

    /// Reads the first row, or the error, before it is asked for.
    func readFirst() throws(DatabaseError) {
        if let row = try read() { kept.append(row) }
    }

    /// Reads all rows before they are asked for.
    func readRest() throws(DatabaseError) {
        while let row = try read() { kept.append(row) }
    }

    /// Reads the rest without keeping it. An error is found again with the next statement.
    func discard() {
        kept = []
        while case .some = try? read() {}
    }

    private func read() throws(DatabaseError) -> PostgresResult? {
        guard !isComplete, !link.isLost else {
            if link.isLost && !isComplete { throw .unavailable("the connection is closed") }
            return nil
        }
        let deadline = ContinuousClock.now + limit
        try link.waitForResult(until: deadline)
        guard let handle = PQgetResult(link.connection) else { throw link.lost() }
        let result = PostgresResult(handle)
        if PQresultStatus(handle) == PGRES_SINGLE_TUPLE { return result }
        isComplete = true
        guard !result.endsConnection else { throw link.lost(result) }
        try link.endPipeline(until: deadline, after: result)
        link.openRows = nil
        return result.state == nil ? nil : result
    }
}

extension PostgresLink {
    /// Sends several statements in one message, as ``run(atMost:pipeline:)`` does, and leaves the rows of the last one to be read one
    /// at a time.
    ///
    /// - Returns: the number of statements before the last one without an error, and the rows; or the first error of those statements.
    func runByRow(
        atMost limit: Duration, pipeline sends: [(OpaquePointer) -> Int32]
    ) throws(DatabaseError) -> (successes: Int, outcome: RowOutcome) {
        let deadline = try sendPipeline(sends, atMost: limit)
        for index in 0..<sends.count - 1 {
            let result = try nextResult(until: deadline)
            guard result.state == nil else {
                try endPipeline(until: deadline, after: result)
                return (index, .failed(result))
            }
        }
        guard PQsetSingleRowMode(connection) == 1 else { throw lost() }
        let rows = PostgresRows(of: self, waiting: limit)
        openRows = rows
        return (sends.count - 1, .rows(rows))
    }

    enum RowOutcome {
        case rows(PostgresRows)
        /// The error of a statement before the last one.
        case failed(PostgresResult)
    }

    /// Reads the only result of a statement in a message of several.
    private func nextResult(until deadline: ContinuousClock.Instant) throws(DatabaseError) -> PostgresResult {
        try waitForResult(until: deadline)
        guard let handle = PQgetResult(connection) else { throw lost() }
        let result = PostgresResult(handle)
        guard !result.endsConnection else { throw lost(result) }
        try waitForResult(until: deadline)
        guard PQgetResult(connection) == nil else { throw lost() }
        return result
    }
}
