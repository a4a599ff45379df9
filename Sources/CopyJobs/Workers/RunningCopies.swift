import Basics
import Synchronization

/// The claim of an attempt on its item has ended, and another worker may have taken the item. The attempt records nothing any more.
struct CopyClaimLost: Error {}

/// The attempts in progress of this process.
final class RunningCopies: Sendable {
    private struct Key: Hashable {
        let job: String
        let number: Int
        let claim: Int64

        init(_ item: CopyItem) {
            (job, number, claim) = (item.jobID, item.number, item.claim.number)
        }
    }

    private struct Running {
        let item: CopyItem
        let task: Task<Void, any Error>
        /// The end of the claim by this process's clock, unless it is renewed.
        var end: ContinuousClock.Instant
    }

    private let running = Lock<[Key: Running]>([:])

    var isEmpty: Bool { running.withLock { $0.isEmpty } }

    var items: [CopyItem] { running.withLock { $0.values.map(\.item) } }

    func begin(
        _ item: CopyItem, until end: ContinuousClock.Instant, _ body: @escaping @Sendable () async throws -> Void
    ) -> Task<Void, any Error> {
        running.withLock { running in
            let task = Task { try await body() }
            running[Key(item)] = Running(item: item, task: task, end: end)
            return task
        }
    }

    func end(_ item: CopyItem) { running.withLock { $0[Key(item)] = nil } }

    func extend(_ item: CopyItem, to end: ContinuousClock.Instant) {
        running.withLock { $0[Key(item)]?.end = end }
    }

    func cancel(_ item: CopyItem) { cancel { Key($0.item) == Key(item) } }

    func cancel(job id: String) { cancel { $0.item.jobID == id } }

    /// Cancels the attempts whose claims have ended because they could not be renewed.
    func cancelEnded(at now: ContinuousClock.Instant) { cancel { $0.end <= now } }

    private func cancel(_ isMeant: (Running) -> Bool) {
        let tasks = running.withLock { $0.values.filter(isMeant).map(\.task) }
        for task in tasks { task.cancel() }
    }
}
