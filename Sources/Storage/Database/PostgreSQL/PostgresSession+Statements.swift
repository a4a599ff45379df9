import CPQ

/// The statements of transactions, as they are sent and checked.
extension PostgresSession {
    /// The number of statements that wait for the next one, and the bytes of one of them.
    private static let pendingStatements = 64
    private static let pendingBytes = 64 << 10

    /// Runs a statement together with the next one.
    func executeSoon(_ sql: String, _ arguments: PostgresStatement.Arguments) throws(DatabaseError) {
        guard link.transactionStatus != PQTRANS_INERROR else { throw .rolledBack }
        results.removeAll(keepingCapacity: true)
        pending.append(.statement(Query(sql: sql, arguments: arguments)))
        if pending.count >= Self.pendingStatements || arguments.byteCount > Self.pendingBytes { try sendPending() }
    }

    func sendPending() throws(DatabaseError) {
        guard !pending.isEmpty else { return }
        try run(takePending(), atMost: statementLimit)
    }

    /// Runs a statement, with what is pending and its preparation in one message.
    func execute(
        _ sql: String, _ arguments: PostgresStatement.Arguments
    ) throws(DatabaseError) -> PostgresResult {
        dropResults(before: sql)
        return try beginningAgain { () throws(DatabaseError) in try send(sql, arguments) }
    }

    /// Runs a statement in the same way, whose rows are read one at a time.
    func rows(
        _ sql: String, _ arguments: PostgresStatement.Arguments
    ) throws(DatabaseError) -> PostgresRows {
        dropResults(before: sql)
        return try beginningAgain { () throws(DatabaseError) in try sendByRow(sql, arguments) }
    }

    /// Notes a statement of ``sendTogether(_:)``.
    ///
    /// - Returns: whether it looks for them.
    func collects(_ sql: String, _ arguments: PostgresStatement.Arguments) -> Bool {
        collected?.append(Query(sql: sql, arguments: arguments))
        return collected != nil
    }

    /// Returns the result of a statement that ``sendTogether(_:)`` has run.
    func earlierResult(of sql: String, _ arguments: PostgresStatement.Arguments) -> PostgresResult? {
        guard !results.isEmpty else { return nil }
        let query = Query(sql: sql, arguments: arguments)
        // Nothing changes the rows of a query before it is dropped.
        return Self.isQuery(sql) ? results[query] : results.removeValue(forKey: query)
    }

    private static func isQuery(_ sql: String) -> Bool { sql.utf8.starts(with: "SELECT".utf8) }

    /// Drops the results of ``sendTogether(_:)`` that a statement may change.
    func dropResults(before sql: String) {
        if !results.isEmpty, !Self.isQuery(sql) { results.removeAll(keepingCapacity: true) }
    }

    /// Returns the next row; `nil` at the end.
    func next(of rows: PostgresRows, _ sql: String) throws(DatabaseError) -> PostgresResult? {
        guard let result = try rows.next() else { return nil }
        return try checked(result, sql)
    }

    /// Runs `body`, which sends a statement, once more if the connection was lost while nobody used it: the transaction has not begun.
    func beginningAgain<T>(_ body: () throws(DatabaseError) -> T) throws(DatabaseError) -> T {
        guard isBeginning else { return try body() }
        let begin = pending
        do {
            return try body()
        } catch {
            guard link.isLost else { throw error }
            try reconnect()
            pending = begin
            return try body()
        }
    }

    func send(
        _ sql: String, _ arguments: PostgresStatement.Arguments
    ) throws(DatabaseError) -> PostgresResult {
        var pipeline = takePending()
        let position = append(Query(sql: sql, arguments: arguments), to: &pipeline)
        guard position > 0 else { return try checked(try link.run(atMost: statementLimit, pipeline.sends[0]), sql) }
        return try run(pipeline, atMost: statementLimit)[position]
    }

    func sendByRow(
        _ sql: String, _ arguments: PostgresStatement.Arguments
    ) throws(DatabaseError) -> PostgresRows {
        var pipeline = takePending()
        append(Query(sql: sql, arguments: arguments), to: &pipeline)
        let (successes, outcome) = try link.runByRow(atMost: statementLimit, pipeline: pipeline.sends)
        switch outcome {
        case .rows(let rows):
            try check(pipeline, successes, nil)
            try rows.readFirst()
            return rows
        case .failed(let result):
            try check(pipeline, successes, result)
            preconditionFailure("The result of a failed statement is an error.")
        }
    }

    /// Sends statements in one message.
    ///
    /// - Returns: the result of each.
    @discardableResult
    func run(_ pipeline: Pipeline, atMost limit: Duration) throws(DatabaseError) -> [PostgresResult] {
        let results = try link.run(atMost: limit, pipeline: pipeline.sends)
        let failure = results.last.flatMap { $0.state == nil ? nil : $0 }
        try check(pipeline, failure == nil ? results.count : results.count - 1, failure)
        return results
    }

    /// Notes which statements are prepared.
    ///
    /// - Parameters:
    ///   - successes: the number of statements without an error.
    ///   - failure: the result of the next one.
    func check(
        _ pipeline: Pipeline, _ successes: Int, _ failure: PostgresResult?
    ) throws(DatabaseError) {
        for (sql, preparation) in pipeline.preparations where preparation.position < successes {
            names[sql] = preparation.name
        }
        guard let failure else { return }
        do {
            try checked(failure, pipeline.texts[successes])
        } catch {
            if successes < pipeline.lastControl ?? 0 { earlierFailure = error }
            throw error
        }
    }

    /// Returns what is pending.
    func takePending() -> Pipeline {
        var pipeline = Pipeline()
        for statement in pending {
            switch statement {
            case .control(let sql): pipeline.appendControl(sql)
            case .statement(let query): append(query, to: &pipeline)
            }
        }
        pending.removeAll(keepingCapacity: true)
        return pipeline
    }

    /// Appends a statement, and its preparation if it has none.
    ///
    /// - Returns: its position.
    @discardableResult
    func append(_ query: Query, to pipeline: inout Pipeline) -> Int {
        let sql = query.sql
        let name: String
        if let known = names[sql] ?? pipeline.preparations[sql]?.name {
            name = known
        } else {
            name = nextName()
            let new = name
            pipeline.preparations[sql] = (new, pipeline.sends.count)
            pipeline.append(sql) { PQsendPrepare($0, new, sql, 0, nil) }
        }
        return pipeline.append(sql) { query.arguments.send(to: name, on: $0) }
    }

    func nextName() -> String {
        nameCount += 1
        return "s\(nameCount)"
    }

    /// Runs a text without parameters behind what is pending; it may have several statements if that has none.
    ///
    /// - Returns: the result of the last one.
    @discardableResult
    func run(_ sql: String, atMost limit: Duration? = nil) throws(DatabaseError) -> PostgresResult {
        let controls = pending.compactMap { if case .control(let text) = $0 { text } else { nil } }
        guard controls.count == pending.count else {
            var pipeline = takePending()
            let position = pipeline.appendControl(sql)
            return try run(pipeline, atMost: limit ?? statementLimit)[position]
        }
        let text = (controls + [sql]).joined(separator: "; ")
        pending.removeAll(keepingCapacity: true)
        return try checked(try link.run(atMost: limit ?? statementLimit) { PQsendQuery($0, text) }, sql)
    }

    var statementLimit: Duration {
        (role == .writer ? server.writeTimeout : server.readTimeout) + server.networkTimeout
    }

    @discardableResult
    func checked(_ result: PostgresResult, _ sql: String) throws(DatabaseError) -> PostgresResult {
        guard let state = result.state else { return result }
        switch (state, role) {
        case ("25006", .reader):
            throw .misuse("a read connection cannot run a statement that writes: \(sql)")
        case ("25006", .writer):
            // A server that was the primary, and is a standby now.
            link.abandon()
            throw .unavailable("the server accepts no writes")
        case _ where result.isOfExpiredStatement:
            // The transaction has to run again.
            forgetStatements()
            hasExpiredStatements = true
            throw .unavailable("a statement has to be prepared again")
        default:
            throw DatabaseError(state: state, message: result.message)
        }
    }
}
