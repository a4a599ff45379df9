import Basics
import Database
import ObjectFilters

/// A stream of the positions of another stream whose objects have a name that is searched for.
///
/// Only the names are read, which costs a part of whole rows, so that a page is found behind many names that have all keys of a word
/// in other places. Objects of versions that stored no names are candidates.
final class NameStream: PositionStream {
    /// The numbers of names in one statement; shorter lists are padded with their last position.
    private static let lengths = [8, 32, 128]
    private static let (shortestBatch, longestBatch) = (8, 128)

    private let candidates: any PositionStream
    private let connection: ReadConnection
    private let budget: SearchBudget
    private let isMatch: (String) -> Bool
    /// The matches of the batch that was read last, in descending order; those before `index` were passed.
    private var positions: [Int64] = []
    private var index = 0
    /// The position from which on all candidates were read.
    private var examined = Int64.max
    private var batch = shortestBatch
    private var isComplete = false

    /// - Parameter isMatch: whether a name in lower case is searched for.
    init(
        _ candidates: any PositionStream, connection: ReadConnection, budget: SearchBudget,
        isMatch: @escaping (String) -> Bool
    ) {
        self.candidates = candidates
        self.connection = connection
        self.budget = budget
        self.isMatch = isMatch
    }

    func next(below position: Int64) throws -> PositionStep {
        // After a jump, another one is likely to follow.
        if position < examined, examined != .max { batch = Self.shortestBatch }
        while true {
            while index < positions.count, positions[index] >= position { index += 1 }
            if index < positions.count { return .found(positions[index]) }
            let below = min(position, examined)
            if isComplete { return .end }
            if budget.isSpent, examined < position { return .unknown(below: below) }
            if let unknown = try read(below: below) { return .unknown(below: unknown) }
        }
    }

    /// Reads the next batch.
    ///
    /// - Returns: the position below which the candidates are unknown, if there is no candidate above it.
    private func read(below start: Int64) throws -> Int64? {
        var found: [Int64] = []
        examined = start
        reading: while found.count < batch {
            switch try candidates.next(below: examined) {
            case .found(let position):
                found.append(position)
                examined = position
            case .unknown(let below):
                if found.isEmpty { return below }
                examined = below
                break reading
            case .end:
                isComplete = true
                break reading
            }
        }
        batch = min(2 * batch, Self.longestBatch)
        (positions, index) = (try matches(among: found), 0)
        return nil
    }

    private func matches(among positions: [Int64]) throws -> [Int64] {
        guard !positions.isEmpty else { return [] }
        budget.spend(names: positions.count)
        let padded = ParameterList.padded(positions, to: Self.lengths)
        return try connection.query(
            """
            SELECT position, name FROM objects WHERE position IN (\(ParameterList.text(padded.count)))
            ORDER BY position DESC
            """, arguments: padded
        ) { row -> Int64? in
            if let name = row.optionalText("name"), !isMatch(name.lowercasedByScalar) { return nil }
            return row.int64("position")
        }.compactMap(\.self)
    }
}
