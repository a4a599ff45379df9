/// The rule of which archives of a schedule are removed.
///
/// It counts archives and ignores their times, so that a clock that steps removes none.
enum BackupRotation {
    /// Returns the archives to remove.
    ///
    /// - Parameters:
    ///   - runs: the archives that exist at the destination, newest first.
    ///   - kept: the number of archives to keep.
    static func surplus(of runs: [ScheduledRun], keeping kept: Int) -> [ScheduledRun] {
        // Where the newer ones lack objects that the store has lost, the newest with all objects may be the only copy.
        let whole = runs.first { $0.result.lostObjects == 0 }?.id
        return runs.dropFirst(kept).filter { $0.id != whole }
    }
}
