/// Permission to delete what is old enough, and the time to judge that by. Only a ``ClockGuard`` gives it.
///
/// Times that were taken while the clock was slow are judged by when they were really taken.
package struct DeletionPermit: Sendable {
    private let clockGuard: ClockGuard
    private let steps: Int
    private let history: ClockHistory

    init(_ clockGuard: ClockGuard, steps: Int, history: ClockHistory) {
        self.clockGuard = clockGuard
        self.steps = steps
        self.history = history
    }

    /// The wall clock now. To be asked in the transaction that deletes: a time that was taken after a step is in a row that
    /// is seen only after it.
    ///
    /// - Throws: ``ClockStepped``: the permit is not good any more.
    package func now() throws(ClockStepped) -> UnixTime {
        UnixTime(microseconds: try clockGuard.history(after: steps).wall)
    }

    /// The steady clock now; otherwise as ``now()``.
    package func steadyNow() throws(ClockStepped) -> UnixTime {
        UnixTime(microseconds: try clockGuard.history(after: steps).steady)
    }

    /// The latest that a time of the wall clock can have been taken.
    package func corrected(_ time: UnixTime) -> UnixTime {
        UnixTime(microseconds: history.corrected(time.microseconds))
    }

    /// An SQL condition: a time of the wall clock is before `limit`, also when it is ``corrected(_:)``.
    ///
    /// - Parameters:
    ///   - column: an expression, in microseconds.
    ///   - limit: an expression, e.g. `$1`.
    package func isBefore(_ column: String, _ limit: String) -> String {
        let conditions = history.spans.filter { $0.correction > 0 }.map {
            "NOT (\(column) BETWEEN \($0.first) AND \($0.last) AND \(column) + \($0.correction) >= \(limit))"
        }
        return "(" + (["\(column) < \(limit)"] + conditions).joined(separator: " AND ") + ")"
    }
}
