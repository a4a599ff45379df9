import Basics
import Capability
import Database
import ObjectStore
import Observability

/// The periodic work once a minute: writes deferred records, and removes data beyond its retention.
struct Housekeeping: Sendable {
    private static let interval = Duration.seconds(60)

    private let database: Database
    private let clock: ClockKeeper
    private let store: ObjectStore
    private let sweeps: [Sweep]
    private let log: Logger
    let metrics: SweepMetrics

    /// - Parameter sweeps: those of all capabilities, in the order in which they run.
    init(database: Database, clock: ClockKeeper, store: ObjectStore, sweeps: [Sweep], log: Logger) {
        self.database = database
        self.clock = clock
        self.store = store
        // First what is not limited by the store's state.
        self.sweeps = sweeps.filter { !$0.removesObjects } + sweeps.filter(\.removesObjects)
        self.log = log
        metrics = SweepMetrics(kinds: sweeps.map(\.kind))
    }

    /// Works until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            database.restoreReserve()
            let permit = await clock.permit()
            await run(sweeps.filter(\.isLocal), permit)
            do {
                try await database.leases.holdOnce("housekeeping") { await run(sweeps.filter { !$0.isLocal }, permit) }
            } catch {
                log.write("the sweeps failed", ["error": "\(error)"], level: .error)
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func run(_ sweeps: [Sweep], _ permit: DeletionPermit?) async {
        for sweep in sweeps where permit != nil || !sweep.needsPermit {
            // If the database is older than the store, nothing may be removed: a file might be the only copy.
            if sweep.removesObjects && store.isForeign { continue }
            await run(sweep, permit)
        }
    }

    private func run(_ sweep: Sweep, _ permit: DeletionPermit?) async {
        do {
            let swept = try await sweep.run(permit)
            metrics.swept(sweep.kind, count: swept)
            if swept > 0 { log.write("\(sweep.kind) were swept", ["count": "\(swept)"]) }
        } catch is ClockStepped {
            // The guard has logged it; the next round begins with the new state.
        } catch {
            metrics.failed(sweep.kind)
            log.write("a sweep failed", ["of": sweep.kind, "error": "\(error)"], level: .error)
        }
    }
}
