import CPQ

/// A statement that the session prepares at its first execution.
final class PostgresStatement: Statement {
    /// The arguments in the formats of libpq: texts that end with 0, and blobs.
    struct Arguments: Hashable {
        private var content: [UInt8] = []
        /// The position of each argument in `content`; `nil` = NULL.
        private var offsets: [Int?] = []
        private var lengths: [Int32] = []
        /// 0 = text, 1 = binary.
        private var formats: [Int32] = []

        var byteCount: Int { content.count }

        mutating func removeAll() {
            content.removeAll(keepingCapacity: true)
            offsets.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
            formats.removeAll(keepingCapacity: true)
        }

        mutating func append(_ value: SQLValue) throws(DatabaseError) {
            guard value != .null else {
                offsets.append(nil)
                lengths.append(0)
                formats.append(0)
                return
            }
            let start = content.count
            switch value {
            case .null: break
            case .integer(let value): content.append(contentsOf: "\(value)".utf8)
            case .text(let value): content.append(contentsOf: value.utf8)
            case .blob(let value): content.append(contentsOf: value)
            }
            let isBlob = if case .blob = value { true } else { false }
            guard isBlob || !content[start...].contains(0) else {
                throw .misuse("PostgreSQL has no text with the character U+0000")
            }
            offsets.append(start)
            lengths.append(Int32(clamping: content.count - start))
            formats.append(isBlob ? 1 : 0)
            content.append(0)
        }

        /// Sends the arguments to a prepared statement.
        func send(to name: String, on connection: OpaquePointer) -> Int32 {
            content.withUnsafeBytes { content in
                let base = content.baseAddress?.assumingMemoryBound(to: CChar.self)
                let values = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
                return PQsendQueryPrepared(connection, name, Int32(values.count), values, lengths, formats, 1)
            }
        }
    }

    private let sql: String
    /// The session, which has the statement in its cache.
    private unowned let session: PostgresSession
    private var arguments = Arguments()
    private var result: PostgresResult?
    private var row: Int32 = 0
    /// Whether ``result`` has all rows.
    private var isWhole = false
    /// The rows of an execution that may end before the last one; ``result`` has one of them.
    private var rows: PostgresRows?

    init(_ sql: String, on session: PostgresSession) {
        self.sql = sql
        self.session = session
    }

    override func bind(_ arguments: [(any Bindable)?]) throws(DatabaseError) {
        self.arguments.removeAll()
        for argument in arguments { try self.arguments.append(argument?.databaseValue ?? .null) }
    }

    override func step() throws(DatabaseError) -> Bool {
        if isWhole {
            row += 1
        } else if rows == nil {
            row = 0
            if session.collects(sql, arguments) { return false }
            result = session.earlierResult(of: sql, arguments)
            if result == nil, !mayStopEarly { result = try session.execute(sql, arguments) }
            isWhole = result != nil
        }
        return isWhole ? row < current.rowCount : try stepByRow()
    }

    private func stepByRow() throws(DatabaseError) -> Bool {
        if rows == nil { rows = try session.rows(sql, arguments) }
        guard let rows else { return false }
        result = try session.next(of: rows, sql)
        return result != nil
    }

    override func runSoon() throws(DatabaseError) {
        try session.executeSoon(sql, arguments)
    }

    override func reset() {
        rows?.discard()
        rows = nil
        result = nil
        isWhole = false
        isRunning = false
    }

    private var current: PostgresResult {
        guard let result else { preconditionFailure("A row is read before its statement was executed.") }
        return result
    }

    override var changedRows: Int { current.changedRows }

    override var columnCount: Int { Int(current.columnCount) }

    override func isColumn(_ index: Int, named name: UnsafePointer<CChar>) -> Bool {
        current.isColumn(Int32(index), named: name)
    }

    override func isNull(_ column: Int32) -> Bool { current.isNull(row, column) }

    override func int64(_ column: Int32) -> Int64 { current.int64(row, column) }

    override func text(_ column: Int32) -> String { current.text(row, column) }

    override func blob(_ column: Int32) -> [UInt8] { current.blob(row, column) }

    override var contentBytes: Int { current.contentBytes(row) }
}
