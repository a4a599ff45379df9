/// A prepared statement whose arguments have the numbers in the SQL. Each engine has its own subclass.
///
/// Classes, because rows are the hot path: a column costs one call through the class's table, and no reference is counted.
class Statement {
    /// Whether rows are being read: the same SQL inside its own row closure needs another statement.
    final var isRunning = false
    /// Whether the rows of this execution may be read only in part, so that a server should not send all at once.
    final var mayStopEarly = false
    /// The address of the literal that named each column; see ``column(_:)``. Empty before the first use.
    private final var literals: [UInt] = []
    /// The column after the one that was read last.
    private final var expected = 0

    /// Passes the arguments of the next execution.
    func bind(_ arguments: [(any Bindable)?]) throws(DatabaseError) { preconditionFailure("each engine binds") }

    /// - Returns: whether there is a row to read; `false` at the end.
    func step() throws(DatabaseError) -> Bool { preconditionFailure("each engine steps") }

    /// Runs the statement without its result, at the latest together with the next one of the session.
    func runSoon() throws(DatabaseError) { while try step() {} }

    /// Ends an execution, whatever its result.
    func reset() { preconditionFailure("each engine resets") }

    /// The number of rows that the execution has changed, after its end.
    var changedRows: Int { preconditionFailure("each engine counts") }

    var columnCount: Int { preconditionFailure("each engine counts") }

    /// Whether the column has this name, without regard to case.
    func isColumn(_ index: Int, named name: UnsafePointer<CChar>) -> Bool { preconditionFailure("each engine names") }

    func isNull(_ column: Int32) -> Bool { preconditionFailure("each engine reads") }

    func int64(_ column: Int32) -> Int64 { preconditionFailure("each engine reads") }

    func text(_ column: Int32) -> String { preconditionFailure("each engine reads") }

    func blob(_ column: Int32) -> [UInt8] { preconditionFailure("each engine reads") }

    /// The sum of the sizes of the row's texts and blobs, in bytes.
    var contentBytes: Int { preconditionFailure("each engine counts") }

    /// Returns the index of a column by its name in the SELECT list.
    ///
    /// Each name is compared once: afterwards it is identified by the constant address of its literal. Rows are mostly read in the
    /// order of their columns, so the column after the last one is tried first.
    ///
    /// Traps if the statement has no such column, or several with that name.
    final func column(_ name: StaticString) -> Int32 {
        let literal = UInt(bitPattern: name.utf8Start)
        var index = expected
        if !isKnown(literal, at: index) { index = find(literal, name) }
        expected = index + 1
        return Int32(truncatingIfNeeded: index)
    }

    private final func isKnown(_ literal: UInt, at index: Int) -> Bool {
        guard index < literals.count else { return false }
        return literals[index] == literal
    }

    private final func find(_ literal: UInt, _ name: StaticString) -> Int {
        var index = 0
        while index < literals.count {
            if literals[index] == literal { return index }
            index += 1
        }
        return search(literal, name)
    }

    private final func search(_ literal: UInt, _ name: StaticString) -> Int {
        let count = columnCount
        if literals.isEmpty { literals = Array(repeating: 0, count: count) }
        var found: Int?
        for index in 0..<count {
            let isSame = name.utf8Start.withMemoryRebound(to: CChar.self, capacity: 1) { isColumn(index, named: $0) }
            guard isSame else { continue }
            precondition(found == nil, "The statement has two columns of the name \(name).")
            found = index
        }
        guard let found else { preconditionFailure("The statement has no column \(name).") }
        literals[found] = literal
        return found
    }
}
