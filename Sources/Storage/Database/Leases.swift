package import Basics

/// Another process may have the lease: the work ends.
package struct LeaseLost: Error, Equatable, CustomStringConvertible {
    package let name: String

    package init(name: String) { self.name = name }

    package var description: String { "another gateway may do the work of the lease \(name)" }
}

/// The right of this process to work that one of all processes with the same database does at a time.
package final class Lease: Sendable {
    /// The lease under which the task works: each of its writes requires it in its transaction.
    @TaskLocal package static var current: Lease?

    package let name: String
    /// The number of times that the lease was taken by any process: an earlier holder has a lower one.
    let generation: Int64
    private let rows: any LeaseRows
    /// The end, by this process's clock, unless the lease is renewed.
    private let end: Lock<ContinuousClock.Instant>

    fileprivate init(_ name: String, _ generation: Int64, _ rows: any LeaseRows, until end: ContinuousClock.Instant) {
        self.name = name
        self.generation = generation
        self.rows = rows
        self.end = Lock(end)
    }

    /// Keeps other processes from taking the lease until the end of `transaction`.
    ///
    /// - Throws: ``LeaseLost``.
    package func require(in transaction: Connection) throws {
        guard try isHeld(in: transaction) else { throw LeaseLost(name: name) }
    }

    /// Whether this process has the lease, and keeps it until the end of `transaction`.
    package func isHeld(in transaction: Connection) throws -> Bool { try rows.isHeld(self, in: transaction) }

    /// Requires that the lease lasts for a batch of work outside of the database, which takes at most ``Leases/longestBatch``.
    ///
    /// - Throws: ``LeaseLost``.
    package func requireBatch(at now: ContinuousClock.Instant = .now) throws(LeaseLost) {
        guard now + Leases.longestBatch <= end.withLock({ $0 }) else { throw LeaseLost(name: name) }
    }

    fileprivate func extend(to end: ContinuousClock.Instant) { self.end.withLock { $0 = end } }

    /// Whether it has ended by this process's clock.
    fileprivate func hasEnded(at now: ContinuousClock.Instant) -> Bool { end.withLock { $0 <= now } }
}

/// The rows of leases, which end by the database's clock. Its calls block.
protocol LeaseRows: Sendable {
    /// - Returns: the generation; `nil` if another process has the lease.
    func take(_ name: String, for description: String) throws -> Int64?
    /// - Returns: the names of the renewed leases; another process has taken the others.
    func renew(_ leases: [Lease]) throws -> Set<String>
    func release(_ lease: Lease) throws
    /// Whether this process has the lease until the end of `transaction`.
    func isHeld(_ lease: Lease, in transaction: Connection) throws -> Bool
    /// Returns the description of the work for which any process has a lease; `nil` = none has it.
    func work(under name: String) throws -> String?
}

/// The leases of a database. One process uses a file, so that it has all of them, and nothing is recorded.
package final class Leases: Sendable {
    /// The time for which a lease lasts after it was renewed: longer than all waits of a transaction.
    static let duration = Duration.seconds(30)
    /// The time between two renewals, and between two attempts to take a lease.
    private static let interval = Duration.seconds(5)
    /// The longest batch of work outside of the database under a lease.
    package static let longestBatch = duration / 3

    /// `nil` for a file.
    private let rows: (any LeaseRows)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let worker = Worker.serial("leases")
    private let held = Lock(Held())

    /// The leases that are renewed, all in one statement.
    private struct Held {
        var leases: [ObjectIdentifier: (lease: Lease, loss: AsyncStream<Void>.Continuation)] = [:]
        var isRenewing = false
    }

    init(_ rows: (any LeaseRows)?, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.rows = rows
        self.now = now
    }

    /// Runs `work` while this process has a lease, as soon as no other process has it, and again if it was lost meanwhile. If it is lost,
    /// the task of `work` is cancelled, and its writes fail with ``LeaseLost``.
    package func hold(_ name: String, _ work: @escaping @Sendable () async throws -> Void) async throws {
        guard rows != nil else { return try await work() }
        while !Task.isCancelled {
            if try await attempt(name, work) == .done { return }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Runs `work` under a lease, unless another process has it.
    ///
    /// - Returns: whether it ran to its end.
    @discardableResult
    package func holdOnce(_ name: String, _ work: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        try await attempt(name, work) == .done
    }

    /// Runs `body` under a lease, unless another process has it. If the lease is lost, the writes of `body` that run under it fail.
    ///
    /// - Parameter description: what `body` does, for ``work(under:)`` of other processes.
    /// - Returns: `nil` if another process has the lease.
    package nonisolated(nonsending) func holding<T>(
        _ name: String, for description: String, _ body: nonisolated(nonsending) (Lease?) async throws -> T
    ) async throws -> T? {
        guard rows != nil else { return try await body(nil) }
        guard let lease = await take(name, for: description) else { return nil }
        _ = keep(lease)
        let result: Result<T, any Error>
        do {
            result = .success(try await body(lease))
        } catch {
            result = .failure(error)
        }
        await release(lease)
        return try result.get()
    }

    /// The same as ``holding(_:for:_:)`` for a thread that may block. The writes of `body` run under the lease.
    package func holdingBlocking<T>(_ name: String, _ body: () throws -> T) throws -> T? {
        guard let rows else { return try body() }
        let begin = now()
        guard let generation = try rows.take(name, for: "") else { return nil }
        let lease = Lease(name, generation, rows, until: begin + Self.duration)
        _ = keep(lease)
        defer {
            forget(lease)
            try? rows.release(lease)
        }
        return try Lease.$current.withValue(lease) { try body() }
    }

    /// Returns the description of the work for which another process has a lease; `nil` = none has it.
    package func work(under name: String) async throws -> String? {
        guard let rows else { return nil }
        return try await worker.run { try rows.work(under: name) }
    }

    private enum Outcome {
        case done
        /// Another process had the lease, or has it now.
        case elsewhere
    }

    private func attempt(_ name: String, _ work: @escaping @Sendable () async throws -> Void) async throws -> Outcome {
        guard rows != nil else {
            try await work()
            return .done
        }
        guard let lease = await take(name) else { return .elsewhere }
        let outcome = try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask {
                do {
                    try await Lease.$current.withValue(lease) { try await work() }
                    return .done
                } catch is LeaseLost {
                    return .elsewhere
                }
            }
            group.addTask {
                for await _ in self.keep(lease) {}
                return .elsewhere
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .done
        }
        await release(lease)
        return outcome
    }

    /// Takes a lease; `nil` if another process has it, or the database does not answer.
    func take(_ name: String, for description: String = "") async -> Lease? {
        let (begin, rows) = (now(), rows)
        return try? await worker.run {
            guard let rows, let generation = try rows.take(name, for: description) else { return nil }
            return Lease(name, generation, rows, until: begin + Self.duration)
        }
    }

    private func release(_ lease: Lease) async {
        forget(lease)
        try? await worker.run { [rows] in try rows?.release(lease) }
    }

    /// Renews a lease no more.
    private func forget(_ lease: Lease) {
        held.withLock { $0.leases.removeValue(forKey: ObjectIdentifier(lease)) }?.loss.finish()
    }

    /// Renews leases.
    ///
    /// - Returns: those that were lost, or may have been because the database does not answer.
    func renew(_ leases: [Lease]) async -> [Lease] {
        let (begin, rows) = (now(), rows)
        guard let renewed = try? await worker.run({ try rows?.renew(leases) }) else {
            return leases.filter { $0.hasEnded(at: now()) }
        }
        for lease in leases where renewed.contains(lease.name) { lease.extend(to: begin + Self.duration) }
        return leases.filter { !renewed.contains($0.name) }
    }

    /// Renews a lease until it is lost or released.
    ///
    /// - Returns: a stream that ends then.
    private func keep(_ lease: Lease) -> AsyncStream<Void> {
        let (losses, loss) = AsyncStream<Void>.makeStream()
        let isRenewing = held.withLock { held in
            held.leases[ObjectIdentifier(lease)] = (lease, loss)
            defer { held.isRenewing = true }
            return held.isRenewing
        }
        if !isRenewing { Task.detached { await self.renewAll() } }
        return losses
    }

    /// Renews the leases that are held, until the last one is given up.
    private func renewAll() async {
        while true {
            try? await Task.sleep(for: Self.interval)
            let leases = held.withLock { held in
                if held.leases.isEmpty { held.isRenewing = false }
                return held.leases.values.map(\.lease)
            }
            guard !leases.isEmpty else { return }
            for lost in await renew(leases) { forget(lost) }
        }
    }
}

extension Worker {
    /// Runs `work` under the lease of the calling task, see ``Lease/current``.
    package nonisolated(nonsending) func runUnderLease<T: Sendable>(
        _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await run { [lease = Lease.current] in try Lease.$current.withValue(lease) { try work() } }
    }
}
