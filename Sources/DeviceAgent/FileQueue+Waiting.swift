import Basics

extension FileQueue {
    /// Returns why files are not in upload, the first of them by path.
    ///
    /// - Parameters:
    ///   - now: the present time on the clock of the queue.
    ///   - wallNow: the same time for people.
    ///   - isPaused: whether nothing is sent at this time of day.
    func waiting(
        at now: ContinuousClock.Instant, _ wallNow: UnixTime, isPaused: Bool, limit: Int
    ) -> [AgentStatus.Waiting] {
        files.filter { !$0.value.isUploading }.sorted { $0.key < $1.key }.prefix(limit).map { path, file in
            let reason = file.waitingReason(at: now, isPaused: isPaused)
            let isTimed = reason == .settling || reason == .retry
            return AgentStatus.Waiting(
                file: path, reason: reason,
                until: isTimed ? wallNow.seconds + max(0, (file.due - now).wholeSeconds) : nil,
                message: reason == .retry ? file.message : nil)
        }
    }
}

extension FileQueue.File {
    fileprivate func waitingReason(at now: ContinuousClock.Instant, isPaused: Bool) -> AgentStatus.Waiting.Reason {
        guard isStable else { return isOpen ? .open : .settling }
        if failures > 0, due > now { return .retry }
        return isPaused ? .paused : .turn
    }
}
