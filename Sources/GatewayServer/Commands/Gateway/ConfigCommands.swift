import Basics
package import CommandLineInterface
import Configuration
import Database
import JSON
import Observability
import Serve
import Settings

/// `data-gateway config check`
struct ConfigCheck: Command {
    static let name = "check"
    static let summary = "Check a configuration, and report every error"
    static let discussion = [
        """
        Reads the file, the variables DATA_GATEWAY_SECTION__NAME and the options like 'serve', and the certificates \
        that they name. Exits with 1 if the configuration has an error. Notes are about what will not work, such as \
        an address for which the certificate is not. A bucket for objects is examined: an object below PREFIX/probe/ is \
        stored, read, listed and removed. Its findings are refusals, with which a gateway does not start, warnings and \
        facts. A gateway that uses the prefix is not disturbed. A server for the database is connected to, and its version, \
        settings, rights and tables are examined; nothing is changed there.
        """
    ]

    static var parameters: [Parameter<Self>] {
        ServeOptions.configurationParameters.map { $0.at(\.options) } + [
            .flag("--offline", \.isOffline, "Check everything but the bucket for objects and the database's server"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var options = ServeOptions()
    var isOffline = false
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        // Warnings are written to the log.
        let log = ProcessLog()
        defer { log.flush() }
        let faults = ConfigurationFaults.all(options, apps: Program.apps, variables: environment.variables)
        guard faults.isEmpty else { return report(faults, environment) }
        var isRefused = false
        let code = await environment.report(asJSON: json) {
            let configuration = try Configuration(
                options, apps: Program.apps, variables: environment.variables, log: Logger(log))
            let certificates = try GatewayCertificates(configuration)
            let given = configuration.settings.count { $0.source != .standard }
            let notes = ConfigurationNotes.all(configuration, certificates, now: environment.clock.now())
            let check = isOffline ? nil : try await BucketCheck.run(configuration, variables: environment.variables)
            let findings = check?.findings ?? []
            let server = isOffline ? nil : DatabaseCheck.run(configuration)
            let serverFindings = server?.findings.map(\.description) ?? []
            let lines =
                ["no faults: \(TextLayout.count(given, "key")) set"] + notes.map { "note: \($0)" }
                + findings.map { "bucket: \($0)" } + serverFindings.map { "database: \($0)" }
            isRefused = check?.isRefused == true || server?.isRefused == true
            return Reply(
                json: .object([
                    JSONValue.Member(name: "settings", value: .number(Int64(given))),
                    JSONValue.Member(name: "notes", value: .array(notes.map { .string($0) })),
                    JSONValue.Member(name: "bucket", value: .array(findings.map { .string($0) })),
                    JSONValue.Member(name: "database", value: .array(serverFindings.map { .string($0) })),
                ]),
                text: lines.joined(separator: "\n"))
        }
        return isRefused ? .refused : code
    }

    /// One line for each fault, with the place in the form that compilers use, so that editors find it.
    private func report(_ faults: [ConfigurationFaults.Fault], _ environment: CommandEnvironment) -> ExitCode {
        if json {
            let list = faults.map { fault in
                JSONValue.object([
                    JSONValue.Member(name: "message", value: .string(fault.message)),
                    JSONValue.Member(name: "key", value: fault.key.map { .string($0) } ?? .null),
                    JSONValue.Member(name: "line", value: fault.line.map { .number(Int64($0)) } ?? .null),
                ])
            }
            try? environment.output(JSONValue.object([JSONValue.Member(name: "faults", value: .array(list))]).text)
            return .refused
        }
        for fault in faults {
            let place = fault.line.flatMap { line in options.configurationPath.map { "\($0):\(line): " } } ?? ""
            environment.errorOutput(TextLayout.printable("data-gateway: \(place)\(fault.message)"))
        }
        return .refused
    }
}

/// `data-gateway config show`
struct ConfigShow: Command {
    static let name = "show"
    static let summary = "Show a configuration with the source of each value"
    static let discussion = [
        """
        Reads the file, the variables DATA_GATEWAY_SECTION__NAME and the options like 'serve'. Secrets are shown as ***.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [.flag("--effective", \.isEffective, "Show every key, including those with their default value")]
            + ServeOptions.configurationParameters.map { $0.at(\.options) }
            + [.flag("--json", \.json, "Print one JSON object")]
    }

    var isEffective = false
    var options = ServeOptions()
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let settings = try Configuration(options, apps: Program.apps, variables: environment.variables).settings
            return Reply("settings", settings.filter { isEffective || $0.source != .standard })
        }
    }
}

extension ConfigurationSetting: Resource {
    package static let columns = ["key", "source", "value"]

    package var fields: [ResourceField] {
        [.text("key", key), .text("value", value), .text("source", source.description)]
    }
}
