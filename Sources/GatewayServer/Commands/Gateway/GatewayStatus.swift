import Basics
import CommandLineInterface
import DeviceCommands
import HTTPClient
import HTTPTypes
import JSON
import Proto
import Sockets

/// `data-gateway status`
struct GatewayStatus: Command {
    static let name = "status"
    static let summary = "Show the state of a gateway: version, disk, uploads, certificate, faults"
    static let discussion = [
        """
        Version, listeners, disk, certificate, backups and faults come from the ops listener, which is often reachable only \
        from the gateway's own machine; stored objects and uploads come from the admin listener and need a signed-in user. \
        The field not_known lists what could not be read. Exits with 1 if the gateway does not accept calls.
        """
    ]
    static let examples = ["status --ops 127.0.0.1:50090"]
    /// The environment variable with the ops listener, if `--ops` is not given.
    private static let variable = "DATA_GATEWAY_OPS"
    private static let timeout = Duration.seconds(10)

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--ops", "HOST:PORT", \.ops,
                "The ops listener (default: $\(variable), else port 50090 of the host of the last login)")
        ] + ConnectionOptions.parameters(of: .admin).map { $0.at(\.connection) }
    }

    var ops: PeerAddress?
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt(asJSON: connection.json) {
            let session = try SessionFile(in: environment).read()
            var state = GatewayState()
            do {
                state.read(try await metrics(environment, session))
            } catch let failure as ClientFailure {
                state.missing.append(failure.message)
            }
            do {
                try await state.read(SignedInConnection(connection, listener: .admin, in: environment))
            } catch let failure as ClientFailure {
                state.missing.append(failure.message)
            }
            guard state.isKnown else {
                throw ClientFailure(state.missing.joined(separator: "; "), exitCode: .unreachable)
            }
            let reply = Reply(state)
            try environment.output(connection.json ? reply.json.text : reply.text)
            if state.isServing == false { throw ClientFailure("the gateway does not accept calls") }
        }
    }

    private func metrics(
        _ environment: CommandEnvironment, _ session: SignedInSession?
    ) async throws -> MetricsText {
        let host = session?.authServer?.address.host ?? "127.0.0.1"
        let address = try ops ?? environment[Self.variable].map(address) ?? PeerAddress(host: host, port: 50_090)
        var options = HTTPConnection.Options(authorities: environment.authorities)
        options.totalTimeout = Self.timeout
        do {
            let reply = try await HTTPConnection(options).exchange(HTTPRequest("GET", "http://\(address)/metrics"))
            guard reply.status == 200 else {
                throw ClientFailure(
                    "\(address) answered /metrics with HTTP status \(reply.status): it is not an ops listener")
            }
            return MetricsText(String(decoding: reply.body, as: UTF8.self))
        } catch TransferFailure.connection(let reason) {
            throw ClientFailure("the ops listener \(address) is not available: \(reason)", exitCode: .unreachable)
        }
    }

    private func address(_ text: String) throws(ClientFailure) -> PeerAddress {
        guard let address = PeerAddress(text) else {
            throw ClientFailure(
                "\(Self.variable) must be HOST:PORT (IPv6: [HOST]:PORT), not '\(text)'", exitCode: .usage)
        }
        return address
    }
}

/// The known state of a gateway; `nil` = it could not be queried.
private struct GatewayState: Resource {
    static let columns = ["version", "is_serving"]

    private var version: String?
    private(set) var isServing: Bool?
    /// Metrics as whole numbers, by the field's name.
    private var numbers: [String: Int64] = [:]
    private var listeners: [ListenerState] = []
    private var lastBackup: Int64?
    /// The kind of the last backup: `scheduled` or `manual`.
    private var lastBackupKind: String?
    private var engine: EngineState?
    /// The place of a database on a server, and its state; `nil` for one in the data directory.
    private var database: [String: String]?
    /// The gateways that use that database; `nil` = only a user of the organization system may know.
    private var replicas: [GatewayReplica]?
    /// Why there is no time at which the disk is full; empty = there is one, or only a user of the organization system may know.
    private var forecast = ""
    private var uploads: (count: Int64, bytes: Int64)?
    private var stored: (count: Int64, bytes: Int64)?
    /// The reasons for missing values, a sentence each.
    var missing: [String] = []

    var isKnown: Bool { version != nil || stored != nil }

    private static let metrics = [
        "store_free_bytes", "store_min_free_bytes", "store_size_bytes", "store_growth_bytes_per_day",
        "store_full_timestamp_seconds", "tls_certificate_expiry_seconds", "bad_objects", "events_pending",
        "events_dead", "deletions_paused", "scrub_passes_total", "scrub_failures_total", "backup_failures_total",
    ]

    mutating func read(_ metrics: MetricsText) {
        version = metrics.label("version", of: "data_gateway_build_info")
        isServing = metrics.sum("data_gateway_serving").map { $0 > 0 }
        listeners = metrics.labels(of: "data_gateway_listener_info").map(ListenerState.init(labels:))
        // The schedule whose last backup is the oldest.
        let scheduled = metrics.minimum("data_gateway_backup_last_success_timestamp_seconds").map { Int64($0) }
        let manual = metrics.sum("data_gateway_manual_backup_last_success_timestamp_seconds").map { Int64($0) } ?? 0
        lastBackup = manual > scheduled ?? 0 ? manual : scheduled
        lastBackupKind = lastBackup.flatMap { $0 == 0 ? nil : $0 == scheduled ? "scheduled" : "manual" }
        engine = EngineState(metrics)
        database = metrics.labels(of: "data_gateway_database_info").first
        database?["state"] = metrics.sum("data_gateway_database_up") == 1 ? "available" : "not available"
        for name in Self.metrics {
            if let value = metrics.sum("data_gateway_\(name)") { numbers[name] = Int64(exactly: value.rounded()) }
        }
    }

    mutating func read(_ gateway: SignedInConnection) async throws {
        let service = UploadManagementServiceClient(gateway)
        let list = try await Pages.all { token in
            let page = try await service.listUploads(ListUploadsRequest(pageSize: Pages.size, pageToken: token))
            return (page.uploads, page.nextPageToken)
        }
        uploads = (Int64(list.count), list.reduce(0) { $0 + $1.storedBytes })
        let statistics = try await ObjectManagementServiceClient(gateway).getStatistics(GetStatisticsRequest(days: 1))
        stored = (statistics.storedObjects, statistics.storedBytes)
        // For users of the organization system; the metrics have all but the reason of the last failure.
        if let status = try? await SystemServiceClient(gateway).getSystemStatus(GetSystemStatusRequest()) {
            engine = status.objectEngine.map(EngineState.init(status:))
            replicas = status.replicas
            if status.storeSizeBytes > 0 { numbers["store_size_bytes"] = status.storeSizeBytes }
            let isMeasured = status.diskForecast?.days ?? 0 > 0
            numbers["store_growth_bytes_per_day"] = isMeasured ? status.diskForecast?.bytesPerDay : nil
            numbers["store_full_timestamp_seconds"] = status.diskForecast?.fullAt?.seconds
            forecast = status.diskForecast?.state.reason ?? ""
        }
    }

    var fields: [ResourceField] {
        [
            .text("version", version ?? ""),
            ResourceField(
                name: "is_serving", json: isServing.map { .bool($0) } ?? .null,
                text: isServing.map { $0 ? "yes" : "no" } ?? ""),
            listeners.field,
            size("free_bytes", numbers["store_free_bytes"]),
            size("minimum_free_bytes", numbers["store_min_free_bytes"]),
            size("disk_size_bytes", numbers["store_size_bytes"]), usedPercent,
            ResourceField(
                name: "growth_bytes_per_day", json: numbers["store_growth_bytes_per_day"].map { .number($0) } ?? .null,
                text: numbers["store_growth_bytes_per_day"].map {
                    "\($0 < 0 ? "-" : "")\(ByteCount.text(Int64(clamping: $0.magnitude))) a day"
                } ?? "",
                heading: "growth"),
            fullAt,
            engine.field, databaseField, replicasField,
            .unixTime("certificate_ends_at", numbers["tls_certificate_expiry_seconds"]),
            number("stored_objects", stored?.count), size("stored_bytes", stored?.bytes),
            number("uploads_in_progress", uploads?.count), size("uploads_stored_bytes", uploads?.bytes),
            number("corrupted_objects", numbers["bad_objects"]), number("scrub_passes", numbers["scrub_passes_total"]),
            number("scrub_failures", numbers["scrub_failures_total"]),
            .unixTime("last_backup_at", lastBackup),
            ResourceField(
                name: "last_backup_kind", json: lastBackupKind.map { .string($0) } ?? .null, text: lastBackupKind ?? ""),
            number("failed_backups", numbers["backup_failures_total"]),
            number("pending_events", numbers["events_pending"]), number("dead_letters", numbers["events_dead"]),
            ResourceField(
                name: "deletions_are_paused", json: numbers["deletions_paused"].map { .bool($0 > 0) } ?? .null,
                text: numbers["deletions_paused"].map { $0 > 0 ? "yes" : "no" } ?? ""),
            .lines("not_known", missing),
        ]
    }

    private var usedPercent: ResourceField {
        guard let size = numbers["store_size_bytes"], let free = numbers["store_free_bytes"], size > 0 else {
            return ResourceField(name: "disk_used_percent", json: .null, text: "")
        }
        let percent = Int64((Double(max(0, size - free)) / Double(size) * 100).rounded())
        return .number("disk_used_percent", percent, shownAs: "\(percent) %")
    }

    /// The time when new uploads are refused, or why it is not known.
    private var fullAt: ResourceField {
        let time = numbers["store_full_timestamp_seconds"].map { UnixTime(seconds: $0) }
        return ResourceField(
            name: "disk_full_at", json: time.map { .string(RFC3339.text($0)) } ?? .null,
            text: time.map { LocalTime.text($0) } ?? forecast, heading: "disk full")
    }

    /// The field `database`, which is empty for a database in the data directory.
    private var databaseField: ResourceField {
        let names = ["engine", "version", "place", "state"]
        let json = database.map { labels in
            JSONValue.object(names.map { JSONValue.Member(name: $0, value: .string(labels[$0] ?? "")) })
        }
        let line = database.map { ["\($0["place"] ?? "") (\($0["state"] ?? "")), version \($0["version"] ?? "")"] }
        return ResourceField.lines("database", line ?? []).with(json: json ?? .null)
    }

    /// The field `replicas`, which is empty for a database in the data directory.
    private var replicasField: ResourceField {
        let lines = (replicas ?? []).map { replica in
            let leases = replica.leases.isEmpty ? "" : "; does \(replica.leases.joined(separator: ", "))"
            return "\(replica.description), version \(replica.version)\(replica.isThis ? " (answered this)" : "")"
                + ", renewed \(replica.secondsSinceRenewal) s ago\(leases)"
        }
        let json = replicas.map { replicas in
            JSONValue.array(
                replicas.map { replica in
                    .object([
                        JSONValue.Member(name: "description", value: .string(replica.description)),
                        JSONValue.Member(name: "version", value: .string(replica.version)),
                        JSONValue.Member(name: "is_this", value: .bool(replica.isThis)),
                        JSONValue.Member(
                            name: "seconds_since_renewal", value: .number(replica.secondsSinceRenewal)),
                        JSONValue.Member(name: "leases", value: .array(replica.leases.map { .string($0) })),
                    ])
                })
        }
        return ResourceField.lines("replicas", lines).with(json: json ?? .null)
    }

    private func number(_ name: String, _ value: Int64?) -> ResourceField {
        ResourceField(name: name, json: value.map { .number($0) } ?? .null, text: value.map { "\($0)" } ?? "")
    }

    private func size(_ name: String, _ value: Int64?) -> ResourceField {
        value.map { .size(name, $0) } ?? ResourceField(name: name, json: .null, text: "")
    }
}

extension DiskForecastState {
    /// Why the disk is not full at a known time.
    fileprivate var reason: String {
        switch self {
        case .noDisk: "the objects are not on a disk"
        case .notEnoughHistory: "not enough history"
        case .notGrowing: "not at this growth"
        case .growing: "not within ten years"
        case .full: "now: new uploads are refused"
        default: ""
        }
    }
}

/// The bucket with the bytes of a gateway's objects.
private struct EngineState {
    private let bucket: String
    private let prefix: String
    private let ownership: String
    private var lastFailure = ""
    private let lastFailureAt: UnixTime?
    private let spoolBytes: Int64
    private let spoolLimit: Int64
    /// Why nothing is removed; empty = the database and the bucket belong together.
    private let divergence: String

    /// Returns `nil` if the objects are in the data directory.
    init?(_ metrics: MetricsText) {
        let prefix = "data_gateway_object_engine"
        guard let labels = metrics.labels(of: "\(prefix)_info").first else { return nil }
        func number(_ name: String) -> Int64 { metrics.sum("\(prefix)_\(name)").flatMap { Int64(exactly: $0) } ?? 0 }
        bucket = labels["bucket"] ?? ""
        self.prefix = labels["prefix"] ?? ""
        ownership = ["held", "unknown", "lost"].first { metrics.value("\(prefix)_ownership", state: $0) == 1 } ?? ""
        let failedAt = number("last_failure_timestamp_seconds")
        lastFailureAt = failedAt > 0 ? UnixTime(seconds: failedAt) : nil
        spoolBytes = number("spool_bytes")
        spoolLimit = number("spool_limit_bytes")
        divergence = number("removals_off") == 1 ? "the database and the bucket do not belong together" : ""
    }

    init(status: ObjectEngineStatus) {
        bucket = status.bucket
        prefix = status.prefix
        ownership = status.ownership
        lastFailure = status.lastFailure
        lastFailureAt = status.lastFailureAt.map { UnixTime(seconds: $0.seconds) }
        spoolBytes = status.spoolBytes
        spoolLimit = status.spoolLimitBytes
        divergence = status.divergence
    }

    var lines: [String] {
        var lines = [
            "s3 \(bucket)/\(prefix) (\(ownership))",
            "slow bodies on the disk: \(ByteCount.text(spoolBytes)) of \(ByteCount.text(spoolLimit))",
        ]
        if !divergence.isEmpty { lines.append("nothing is removed: \(divergence)") }
        if let lastFailureAt {
            lines.append("last failure: \(LocalTime.text(lastFailureAt)) \(lastFailure)")
        }
        return lines
    }

    var json: JSONValue {
        .object([
            JSONValue.Member(name: "kind", value: .string("s3")),
            JSONValue.Member(name: "bucket", value: .string(bucket)),
            JSONValue.Member(name: "prefix", value: .string(prefix)),
            JSONValue.Member(name: "ownership", value: .string(ownership)),
            JSONValue.Member(name: "last_failure", value: .string(lastFailure)),
            JSONValue.Member(
                name: "last_failure_at", value: lastFailureAt.map { .string(RFC3339.text($0)) } ?? .null),
            JSONValue.Member(name: "spool_bytes", value: .number(spoolBytes)),
            JSONValue.Member(name: "spool_limit_bytes", value: .number(spoolLimit)),
            JSONValue.Member(name: "divergence", value: .string(divergence)),
        ])
    }
}

extension EngineState? {
    /// The field `object_engine`, which is empty for a gateway whose objects are in its data directory.
    fileprivate var field: ResourceField {
        ResourceField.lines("object_engine", self?.lines ?? []).with(json: self?.json ?? .null)
    }
}

/// A listener of a running gateway, by its metrics.
struct ListenerState {
    private let name: String
    /// `HOST:PORT`.
    private let address: String
    private let isSecure: Bool

    init(labels: [String: String]) {
        name = labels["listener"] ?? ""
        address = labels["address"] ?? ""
        isSecure = labels["tls"] == "1"
    }

    fileprivate var text: String { "\(name) \(address)\(isSecure ? " (TLS)" : "")" }

    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "name", value: .string(name)),
            JSONValue.Member(name: "address", value: .string(address)),
            JSONValue.Member(name: "port", value: PeerAddress(address).map { .number(Int64($0.port)) } ?? .null),
            JSONValue.Member(name: "tls", value: .bool(isSecure)),
        ])
    }
}

extension [ListenerState] {
    /// The field `listeners`. JSON also has the lines for people, which were all that earlier releases had.
    var field: ResourceField {
        ResourceField.lines("listeners", map(\.text)).with(json: .array(map(\.json)))
            .formerly("listener_addresses", .array(map { .string($0.text) }))
    }
}

/// The samples of a metrics page in the text format of Prometheus.
struct MetricsText {
    private var samples: [(name: String, labels: String, value: Double)] = []

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            let series = line[..<space]
            let brace = series.firstIndex(of: "{") ?? series.endIndex
            samples.append((String(series[..<brace]), String(series[brace...]), value))
        }
    }

    /// Returns the sum of a metric's samples; `nil` if it has none.
    func sum(_ name: String) -> Double? {
        let values = samples.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.reduce(0, +)
    }

    /// Returns the lowest value of a metric's samples; `nil` if it has none.
    func minimum(_ name: String) -> Double? {
        samples.filter { $0.name == name }.map(\.value).min()
    }

    /// Returns the value of a metric's sample with this label `state`.
    func value(_ name: String, state: String) -> Double? {
        samples.first { $0.name == name && Self.labels($0.labels)["state"] == state }?.value
    }

    /// Returns the value of a label of a metric's first sample.
    func label(_ label: String, of name: String) -> String? {
        samples.first { $0.name == name }.flatMap { Self.labels($0.labels)[label] }
    }

    /// Returns the labels of each sample of a metric.
    func labels(of name: String) -> [[String: String]] {
        samples.filter { $0.name == name }.map { Self.labels($0.labels) }
    }

    /// Reads `{name="value",…}`; the gateway's values contain no quotes.
    private static func labels(_ text: String) -> [String: String] {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        var labels: [String: String] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let name = parts[index].filter { !"{,=".contains($0) }
            labels[name] = String(parts[index + 1])
        }
        return labels
    }
}
