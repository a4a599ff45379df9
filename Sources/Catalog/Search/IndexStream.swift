import Database

/// The positions in an index for fixed values of its first columns, read in batches.
final class IndexStream: PositionStream {
    private static let firstBatch = 32
    /// The batch size after a jump, because another jump is likely to follow.
    private static let batchAfterJump = 4
    private static let longestBatch = 256

    private let connection: ReadConnection
    private let budget: SearchBudget
    let sql: String
    let arguments: [(any Bindable)?]
    private var batch = firstBatch
    /// The current batch, in descending order.
    private var positions: [Int64] = []
    private var index = 0
    /// Whether the index has nothing below the last of `positions`.
    private var isComplete = false

    /// - Parameter conditions: conditions on columns of `table`; their parameters are `$1` and so on, in the order of `arguments`.
    init(
        _ table: String, where conditions: [String], _ arguments: [any Bindable], connection: ReadConnection,
        budget: SearchBudget
    ) {
        self.connection = connection
        self.budget = budget
        self.arguments = arguments
        let conditions = conditions + ["position < $\(arguments.count + 1)"]
        sql = """
            SELECT position FROM \(table) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY position DESC LIMIT $\(arguments.count + 2)
            """
    }

    func next(below position: Int64) throws -> PositionStep {
        skip(to: position)
        if index < positions.count { return .found(positions[index]) }
        if isComplete { return .end }
        if !positions.isEmpty {
            batch = positions.last == position ? min(batch * 2, Self.longestBatch) : Self.batchAfterJump
        }
        positions = try connection.query(sql, arguments: arguments + [position, batch]) { $0.int64("position") }
        index = 0
        isComplete = positions.count < batch
        budget.spend(entries: positions.count)
        return positions.first.map(PositionStep.found) ?? .end
    }

    /// Moves to the first position of the batch below `position`.
    private func skip(to position: Int64) {
        if index < positions.count, positions[index] < position { return }
        var (low, high) = (index, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { high = middle } else { low = middle + 1 }
        }
        index = low
    }
}
