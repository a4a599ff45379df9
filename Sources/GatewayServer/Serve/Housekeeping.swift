import Accounts
import AppSupport
import Basics
import Catalog
import Console
import CopyJobs
import Database
import Identity
import ObjectStore
import Observability
import Uploads
import Webhooks

/// The periodic work once a minute: writes deferred records, and removes data beyond its retention.
struct Housekeeping: Sendable {
    private static let interval = Duration.seconds(60)

    let database: Database
    let clock: ClockKeeper
    let accounts: Accounts
    let identity: Identity
    let uploads: Uploads
    let catalog: Catalog
    let events: Webhooks
    let copies: CopyJobs
    let consoleSessions: ConsoleSessions?
    /// The removals of the enabled apps.
    let apps: [AppSweep]
    let store: ObjectStore
    let policy: any AccessPolicy
    /// The time without a part after which a multipart upload of a static key is abandoned.
    let directUploadIdle: Duration
    let metrics: SweepMetrics
    let log: Logger

    /// Works until its task is cancelled.
    func run() async {
        while !Task.isCancelled {
            database.restoreReserve()
            let permit = await clock.permit()
            await sweep(.auditLines) { try await accounts.tidy(permit) }
            await sweep(.events) { try await events.tidy(permit) }
            if let permit {
                await sweep(.spentTokens) { try await identity.sweep(permit) }
                await sweep(.copyJobs) { try await copies.sweep(permit) }
                await sweep(.sessions) {
                    try await accounts.sweepSessions(permit) + (consoleSessions?.sweep(permit) ?? 0)
                }
                for app in apps { await sweep(app.kind) { try await app.run(permit) } }
            }
            // If the database is older than the store, nothing may be removed: a file might be the only copy.
            if !store.isForeign {
                if let permit { await sweepAged(permit) }
                await sweep(.usage) { try await store.sweepUsage() + uploads.sweepUsage() }
                await sweep(.rows) { try await store.sweepDiscards() }
                await sweep(.files) { try await store.sweepRemovals() }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func sweepAged(_ permit: DeletionPermit) async {
        await sweep(.uploads) { try await uploads.sweep(permit) }
        await sweep(.objects) { try await catalog.applyRetention(permit) }
        await sweep(.trash) { try await catalog.sweepTrash(permit) }
        await sweep(.operations) { try await catalog.sweepOperations(permit) }
        await sweep(.uploadRecords) { try await uploads.sweepRecords(permit) }
        await sweep(.deletedObjects) { try await catalog.sweepDeleted(permit) }
        await sweep(.staticKeyObjects) { try await store.sweepDirectObjects(policy, permit) }
        await sweep(.multiparts) { try await store.sweepDirectMultiparts(idleFor: directUploadIdle, permit) }
    }

    private func sweep(_ kind: SweepMetrics.Kind, _ run: () async throws -> Int) async {
        await sweep(kind.rawValue, run)
    }

    private func sweep(_ kind: String, _ run: () async throws -> Int) async {
        do {
            let swept = try await run()
            metrics.swept(kind, count: swept)
            if swept > 0 { log.write("\(kind) were swept", ["count": "\(swept)"]) }
        } catch is ClockStepped {
            // The guard has logged it; the next round begins with the new state.
        } catch {
            metrics.failed(kind)
            log.write("a sweep failed", ["of": kind, "error": "\(error)"], level: .error)
        }
    }
}
