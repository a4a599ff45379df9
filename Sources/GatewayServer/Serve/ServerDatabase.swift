import Basics
import Capability
import Database
import RPC
import S3Engine

/// The database on a server as a capability: its metrics, and the end of the gateway if another one takes it over.
struct ServerDatabase: Capability {
    /// Another gateway has the right to the database.
    struct TakenOver: Error, CustomStringConvertible {
        let description = "another gateway has taken the database over"
    }

    /// The largest difference between the server's clock and that of a gateway which shares the database: the times of one gateway are
    /// compared with those of another.
    static let largestClockDifference = Duration.seconds(2)

    let database: Database
    let server: PostgresServer
    /// Notified when the right is lost.
    let loss: Signal

    /// The reason why the gateway is not ready; `nil` = it is.
    var problem: String? {
        guard let contact = database.contact else { return nil }
        guard contact.isAnswering else { return "the database's server does not answer" }
        guard let difference = clockDifference else { return nil }
        return
            "the clock of this machine is \(difference.wholeSeconds) seconds off that of the database's server"
    }

    /// The difference between the server's clock and this machine's, if it is too large for a gateway that shares the database.
    private var clockDifference: Duration? {
        guard server.holder?.isReplica == true, let contact = database.contact else { return nil }
        let difference = contact.clockDifference.magnitude
        return difference > Self.largestClockDifference ? difference : nil
    }

    /// Whether the clock may decide what is deleted by age.
    var permitsDeletions: Bool { clockDifference == nil }

    var background: [BackgroundWork] {
        [
            BackgroundWork("database_lease") {
                await loss.wait(after: 0)
                if !Task.isCancelled { throw TakenOver() }
            }
        ]
    }

    var metrics: [any MetricSource] { [ServerDatabaseMetrics(database: database, server: server)] }
}

extension LeaseHolder {
    /// Makes the holder of this process.
    ///
    /// - Parameters:
    ///   - dataDirectory: locked by this process.
    ///   - isReplica: whether it shares the database with other gateways.
    static func current(dataDirectory: String, isReplica: Bool = false) -> LeaseHolder {
        let holder = PrefixHolder.current(dataDirectory: dataDirectory, clock: SystemClock())
        return LeaseHolder(
            id: holder.id, directory: holder.directory, description: "\(holder)", version: ProgramVersion.current,
            isReplica: isReplica)
    }
}

/// The metrics of a database on a server.
private struct ServerDatabaseMetrics: MetricSource {
    private static let prefix = "data_gateway_database"

    let database: Database
    let server: PostgresServer

    var families: [MetricFamily] {
        guard let counts = database.serverCounts else { return [] }
        let sample = database.serverSample
        return state(sample) + waits(counts) + counters(counts) + (sample.map(Self.server) ?? [])
    }

    private func state(_ sample: ServerSample?) -> [MetricFamily] {
        [
            .gauge(
                "\(Self.prefix)_info", "Always 1; the labels have the server's version, and the place of the database.",
                [([("engine", "postgresql"), ("version", sample?.version ?? ""), ("place", server.place)], 1)]),
            .gauge(
                "\(Self.prefix)_up", "1 if the database's server answered the latest look at its state, else 0.",
                [([], sample == nil ? 0 : 1)]),
        ]
    }

    private func waits(_ counts: ServerCounts) -> [MetricFamily] {
        [
            .histogram(
                "\(Self.prefix)_pool_wait_seconds",
                "Seconds for which reads waited for a thread, and for a connection.",
                [
                    ([("for", "thread")], Histogram(counts.threadWait)),
                    ([("for", "connection")], Histogram(counts.connectionWait)),
                ]),
            .histogram(
                "\(Self.prefix)_lock_wait_seconds",
                "Seconds from the begin of a write's transaction to the writers' lock.",
                [([], Histogram(counts.lockWait))]),
            .histogram(
                "\(Self.prefix)_lock_held_seconds", "Seconds for which a transaction had the writers' lock.",
                [([], Histogram(counts.lockHeld))]),
            .histogram(
                "\(Self.prefix)_commit_seconds", "Seconds for which the gateway waited for the answer of a COMMIT.",
                [([], Histogram(counts.commit))]),
        ]
    }

    private func counters(_ counts: ServerCounts) -> [MetricFamily] {
        [
            .counter(
                "\(Self.prefix)_batches_total", "Transactions of writes that were committed.", [([], counts.batches)]),
            .counter("\(Self.prefix)_writes_total", "Writes in these transactions.", [([], counts.writes)]),
            .counter(
                "\(Self.prefix)_round_trips_total", "Messages to the server for whose answers the gateway has waited.",
                [([], counts.roundTrips)]),
            .counter(
                "\(Self.prefix)_reconnects_total", "Connections that were opened again after they were lost.",
                [([], counts.reconnects)]),
            .counter(
                "\(Self.prefix)_in_doubt_total", "Transactions whose outcome is unknown.",
                [([], counts.inDoubt)]),
        ]
    }

    private static func server(_ sample: ServerSample) -> [MetricFamily] {
        [
            .gauge("\(prefix)_bytes", "Size of the database in bytes.", [([], Int(sample.bytes))]),
            .gauge(
                "\(prefix)_connections", "Connections of all clients of the server.", [([], Int(sample.connections))]),
            .gauge("\(prefix)_max_connections", "The server's max_connections.", [([], Int(sample.connectionLimit))]),
            .gauge(
                "\(prefix)_usage_rows",
                "Rows of the tables of counters, and versions of rows that wait for a vacuum.",
                [([("state", "live")], Int(sample.liveRows)), ([("state", "dead")], Int(sample.deadRows))]),
            .gauge(
                "\(prefix)_xid_age", "Transactions since the oldest one whose rows are not frozen.",
                [([], Int(sample.transactionAge))]),
            .seconds(
                "\(prefix)_oldest_transaction_seconds", .gauge,
                "Seconds since the begin of the oldest transaction that keeps dead rows.", sample.oldestTransaction),
            .gauge(
                "\(prefix)_oldest_slot_age", "Transactions since the oldest snapshot of a replication slot.",
                [([], Int(sample.oldestSlotAge))]),
            .gauge(
                "\(prefix)_synchronous_standbys", "Standbys for which commits wait.",
                sample.synchronousStandbys.map { [([], Int($0))] } ?? []),
            .gauge(
                "\(prefix)_standby_lag_bytes",
                "Bytes of the log that the slowest of these standbys has not on its disk.",
                sample.standbyLagBytes.map { [([], Int($0))] } ?? []),
            .seconds(
                "\(prefix)_clock_difference_seconds", .gauge,
                "Seconds by which the server's clock is ahead of this machine's.", sample.clockDifference / .seconds(1)),
        ]
            + (sample.standbyLag.map { lag in
                [
                    .seconds(
                        "\(prefix)_standby_lag_seconds", .gauge,
                        "Seconds until the slowest standby had a commit on its disk.",
                        lag)
                ]
            } ?? [])
    }
}

extension Histogram {
    fileprivate init(_ durations: ServerCounts.Durations) {
        self.init(counts: durations.counts, sum: durations.sum)
    }
}
