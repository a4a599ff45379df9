import Backup
import Basics
import CommandLineInterface
import Configuration
import Doctor
import Foundation
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
                ("log", .string(log.map(LogExcerpt.file) ?? LogExcerpt.journal(of: "data-gateway"))),
                ("doctor", examination()), ("machine", machine()),
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
    private func examination() -> JSONValue {
        guard let directory else { return .null }
        do {
            let doctor = Doctor(try DataDirectory.openForRepair(directory), migrations: Program.migrations)
            return DoctorReply(try doctor.examine(checksums: false), DoctorReply.Treatment()).reply.json
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
        var offset = 0
        while offset < bytes.count {
            let written = bytes[offset...].withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            guard written > 0 else {
                let failure = ClientFailure("cannot write \(path): \(String(cString: strerror(errno)))")
                close(file)
                unlink(path)
                throw failure
            }
            offset += written
        }
        close(file)
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
            return scrubbed(whole(bytes, isCut: size > limit))
        } catch {
            return "not available: cannot read \(path)"
        }
    }

    /// Returns the newest lines of a service in the journal of systemd.
    static func journal(of unit: String) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["journalctl", "--unit", unit, "--lines", "2000", "--no-pager", "--output", "short-iso"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return "not available: journalctl cannot be run; name a file with --log"
        }
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        guard process.terminationStatus == 0, !bytes.starts(with: Array("-- No entries --".utf8)) else {
            return "not available: there is no journal of \(unit) that this user can read; name a file with --log"
        }
        return scrubbed(whole(Array(bytes.suffix(Int(limit))), isCut: bytes.count > Int(limit)))
    }

    /// Drops the part of a line at the beginning.
    private static func whole(_ bytes: [UInt8], isCut: Bool) -> String {
        let rest = isCut ? bytes.drop { $0 != 0x0A }.dropFirst() : bytes[...]
        return String(decoding: rest, as: UTF8.self)
    }

    /// Replaces what may be a secret: passwords in URLs, query strings, the values of header fields that sign in, values after a name of
    /// a secret, and words that begin like one.
    static func scrubbed(_ text: String) -> String {
        rules.reduce(text) { text, rule in
            rule.pattern.stringByReplacingMatches(
                in: text, range: NSRange(text.startIndex..., in: text), withTemplate: rule.replacement)
        }
    }

    /// The patterns of secrets, and what is left of their matches, in the order of their use.
    private static let rules: [(pattern: NSRegularExpression, replacement: String)] = {
        // A value in quotes with escapes, as in JSON, or one without spaces.
        let quoted = #""(?:[^"\\\r\n]|\\.)*"?"#
        let prefixes = TokenPrefix.allCases.map { NSRegularExpression.escapedPattern(for: $0.rawValue) }
        return [
            // scheme://user:password@host
            (#"([a-z][a-z0-9+.-]*://)[^\s/@"'<>]+@"#, "$1***@"),
            (#"(?<=\S)\?[^\s"'<>]+"#, "?***"),
            // The values of these fields have spaces: they end with the quote or the line.
            (#"((?:cookie|authorization)"[ \t]*[:=][ \t]*)\#(quoted)"#, #"$1"***""#),
            (#"((?:cookie|authorization)[ \t]*[:=][ \t]*)[^"\s][^"\r\n]*"#, "$1***"),
            (#"(\#(secretName)"?'?[ \t]*[:=][ \t]*)\#(quoted)"#, #"$1"***""#),
            (#"(\#(secretName)"?'?[ \t]*[:=][ \t]*)[^\s"',;&(){}\[\]<>]+"#, "$1***"),
            (#"(bearer[ \t]+)[^\s"',;]+"#, "$1***"),
            (#"(?<![a-z0-9])(?-i:\#(prefixes.joined(separator: "|")))[a-z0-9+/=_.-]*"#, "***"),
        ].map { pattern, replacement in
            guard let expression = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive) else {
                preconditionFailure("the pattern \(pattern) is malformed")
            }
            return (expression, replacement)
        }
    }()

    /// A name whose value is a secret, such as `password` or `secret_access_key`.
    private static let secretName =
        "[a-z0-9_.-]*"
        + "(?:password|passwd|passphrase|secret|token|signature|credential|api[_-]?key|access[_-]?key|private[_-]?key)"
        + "[a-z0-9_.-]*"
}
