import Backup
import Basics
import CommandLineInterface
import Configuration
import Doctor
import Glibc
import HTTPClient
import HTTPTypes
import JSON
import Serve
import Settings
import Sockets

/// `data-gateway support-bundle`
struct SupportBundle: Command {
    static let name = "support-bundle"
    static let summary = "Write a file for finding a fault: configuration, metrics, log, machine"
    static let discussion = [
        """
        The file is one JSON object: the version, the configuration with its sources and faults, the metrics and the \
        readiness of the ops listener, the newest lines of the log, what 'data-gateway doctor' finds if the gateway is \
        stopped, the kernel, the memory and the free space. It has no secret of the configuration, and what looks like a \
        password, a key or a token in the log is replaced. Read it before you send it.
        """
    ]
    static let examples = ["support-bundle --to bundle.json --config /etc/data-gateway/config"]
    private static let timeout = Duration.seconds(10)

    static var parameters: [Parameter<Self>] {
        [
            .option("--to", "FILE", \.path, "Write to this file, which must not exist", isRequired: true),
            .option("--ops", "HOST:PORT", \.ops, "The ops listener (default: 127.0.0.1:50090)"),
            .option(
                "--data-dir", "DIR", \.directory,
                "The data directory whose free space and examination are included"),
            .option(
                "--log", "FILE", \.log,
                "Include the newest lines of this log (default: the journal of the service data-gateway)"),
        ] + ServeOptions.configurationParameters.map { $0.at(\.options) }
    }

    var path = ""
    var ops: PeerAddress?
    var directory: String?
    var log: String?
    var options = ServeOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt {
            let metrics = await page("/metrics")
            let readiness = await page("/readyz")
            let members: [(String, JSONValue)] = [
                ("version", .string(ProgramVersion.current)),
                ("written_at", .string(RFC3339.text(environment.clock.now()))),
                ("configuration", configuration(environment)),
                ("readiness", .string(readiness)), ("metrics", .string(metrics)),
                (
                    "log",
                    .string(log.map(LogExcerpt.file) ?? LogExcerpt.journal(of: "data-gateway", environment.variables))
                ),
                ("doctor", examination(environment)), ("machine", machine()),
            ]
            let text = JSONValue.object(members.map { JSONValue.Member(name: $0.0, value: $0.1) }).text + "\n"
            try write(Array(text.utf8))
            try environment.output("\(path): \(ByteCount.text(Int64(text.utf8.count)))")
        }
    }

    private func configuration(_ environment: CommandEnvironment) -> JSONValue {
        let faults = ConfigurationFaults.all(options, apps: Program.apps, variables: environment.variables)
        let settings =
            (try? Configuration(options, apps: Program.apps, variables: environment.variables).settings) ?? []
        return .object([
            JSONValue.Member(name: "faults", value: .array(faults.map { .string($0.message) })),
            JSONValue.Member(
                name: "settings", value: .array(settings.filter { $0.source != .standard }.map(\.json))),
        ])
    }

    /// The doctor's findings in the data directory of a stopped gateway, or the reason why there are no findings.
    private func examination(_ environment: CommandEnvironment) -> JSONValue {
        guard let directory else { return .null }
        do {
            let configuration = try? Configuration(options, apps: Program.apps, variables: environment.variables)
            let gateway = try StoppedGateway(directory, configuration?.database)
            defer { gateway.close() }
            let report = try gateway.doctor().examine(checksums: false)
            return DoctorReply(report, DoctorReply.Treatment()).reply.json
        } catch {
            return .string("not examined: \(error)")
        }
    }

    /// A page of the ops listener, or why it is missing.
    private func page(_ path: String) async -> String {
        let address = ops ?? PeerAddress(host: "127.0.0.1", port: 50_090)
        var connection = HTTPConnection.Options()
        connection.totalTimeout = Self.timeout
        do {
            let reply = try await HTTPConnection(connection).exchange(HTTPRequest("GET", "http://\(address)\(path)"))
            return String(decoding: reply.body, as: UTF8.self)
        } catch {
            return "not available: \(error)"
        }
    }

    private func machine() -> JSONValue {
        var members = ["/proc/version", "/proc/meminfo", "/proc/loadavg", "/proc/uptime"].map { file in
            let bytes = (try? PrivateFile.read(file)) ?? nil
            return JSONValue.Member(
                name: Path.name(of: file), value: bytes.map { .string(String(decoding: $0, as: UTF8.self)) } ?? .null)
        }
        if let directory {
            let free = DiskSpace.available(at: directory).map { JSONValue.number($0) } ?? .null
            members.append(JSONValue.Member(name: "free_bytes", value: free))
        }
        return .object(members)
    }

    private func write(_ bytes: [UInt8]) throws(ClientFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ClientFailure("cannot write \(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        do {
            try OpenFile.write(bytes, to: file)
        } catch {
            unlink(path)
            throw ClientFailure("cannot write \(path): \(error)")
        }
    }
}

/// The newest lines of a log, without secrets.
enum LogExcerpt {
    /// The number of bytes of a log that are read.
    private static let limit: Int64 = 1 << 20

    /// Returns the end of a file.
    static func file(_ path: String) -> String {
        do {
            let file = try FileReader(path)
            let size = Int64(try file.status().st_size)
            var bytes: [UInt8] = []
            try file.forEachBlock(of: max(0, size - limit)..<size) { bytes += $0 }
            return SecretScrubber.scrubbed(whole(bytes, isCut: size > limit))
        } catch {
            return "not available: cannot read \(path)"
        }
    }

    /// Returns the newest lines of a service in the journal of systemd.
    ///
    /// - Parameter variables: the environment of `journalctl`.
    static func journal(of unit: String, _ variables: [String: String]) -> String {
        let command = ["journalctl", "--unit", unit, "--lines", "2000", "--no-pager", "--output", "short-iso"]
        guard let journal = ChildProcess.output(of: ["/usr/bin/env"] + command, variables) else {
            return "not available: journalctl cannot be run; name a file with --log"
        }
        let bytes = journal.bytes
        guard journal.isSuccess, !bytes.starts(with: Array("-- No entries --".utf8)) else {
            return "not available: there is no journal of \(unit) that this user can read; name a file with --log"
        }
        return SecretScrubber.scrubbed(whole(Array(bytes.suffix(Int(limit))), isCut: bytes.count > Int(limit)))
    }

    /// Drops the part of a line at the beginning.
    private static func whole(_ bytes: [UInt8], isCut: Bool) -> String {
        let rest = isCut ? bytes.drop { $0 != 0x0A }.dropFirst() : bytes[...]
        return String(decoding: rest, as: UTF8.self)
    }
}
