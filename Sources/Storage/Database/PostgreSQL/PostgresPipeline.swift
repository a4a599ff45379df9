import CPQ

/// A statement of a transaction with its arguments.
struct Query: Hashable {
    let sql: String
    let arguments: PostgresStatement.Arguments
}

/// A statement that is sent with the next one of its session.
enum PendingStatement {
    /// A statement that controls transactions.
    case control(String)
    case statement(Query)
}

/// Statements that go to the server in one message.
struct Pipeline {
    /// Functions that each send one statement by one of the functions PQsend….
    private(set) var sends: [(OpaquePointer) -> Int32] = []
    /// The text of each statement.
    private(set) var texts: [String] = []
    /// The names and positions of statements that prepare others, by the texts of these.
    var preparations: [String: (name: String, position: Int)] = [:]
    /// The position of the last statement that controls transactions.
    private(set) var lastControl: Int?

    /// - Returns: the position of the statement.
    @discardableResult
    mutating func append(_ sql: String, _ send: @escaping (OpaquePointer) -> Int32) -> Int {
        sends.append(send)
        texts.append(sql)
        return sends.count - 1
    }

    /// - Returns: the position of the statement.
    @discardableResult
    mutating func appendControl(_ sql: String) -> Int {
        lastControl = append(sql) { PQsendQueryParams($0, sql, 0, nil, nil, nil, nil, 1) }
        return sends.count - 1
    }
}
