/// A permission to delete data by its age, with the time to compare ages with. Only a ``ClockGuard`` issues it.
///
/// Times that were recorded while the clock was slow are corrected before they are compared.
package struct DeletionPermit: Sendable {
    private let clockGuard: ClockGuard
    private let steps: Int
    private let history: ClockHistory

    init(_ clockGuard: ClockGuard, steps: Int, history: ClockHistory) {
        self.clockGuard = clockGuard
        self.steps = steps
        self.history = history
    }

    /// Returns the wall clock. Called in the transaction that deletes, so that rows with times from after a step are not compared
    /// with a time from before it.
    ///
    /// - Throws: ``ClockStepped`` if the permit is no longer valid.
    package func now() throws(ClockStepped) -> UnixTime {
        UnixTime(microseconds: try clockGuard.history(after: steps).wall)
    }

    /// Returns the steady clock, otherwise like ``now()``.
    package func steadyNow() throws(ClockStepped) -> UnixTime {
        UnixTime(microseconds: try clockGuard.history(after: steps).steady)
    }

    /// Returns the latest moment at which the wall clock can have shown `time`.
    package func corrected(_ time: UnixTime) -> UnixTime {
        UnixTime(microseconds: history.corrected(time.microseconds))
    }

    /// Returns an SQL condition: a time of the wall clock is before `limit`, also after ``corrected(_:)``.
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
