import Basics
import CLinux
import CommandLineInterface
import DeviceAgent
import DeviceClient
import Glibc
import HTTPClient
import JSON

/// `data-gateway agent check`
struct AgentCheck: Command {
    static let name = "check"
    static let summary = "Check the agent's configuration, its directories and the device's key"
    static let discussion =
        [
            "Prints every fault that it finds. Exits with 2 if the configuration is wrong, with 1 for other faults."
        ] + AgentOptions.configurationHelp
    static let examples = ["agent check --config /etc/data-gateway/agent.json --offline"]

    static var parameters: [Parameter<Self>] {
        AgentOptions.parameters(json: "Print one JSON object with all faults").map { $0.at(\.options) } + [
            .flag("--offline", \.isOffline, "Leave out the call that shows whether the device's key works")
        ]
    }

    var options = AgentOptions()
    var isOffline = false

    /// The results of a check, sentences without a full stop.
    private struct Findings {
        var faults: [String] = []
        /// Properties of a valid configuration that may surprise.
        var notes: [String] = []
    }

    func run(in environment: CommandEnvironment) async -> ExitCode {
        var isInOrder = true
        let asJSON = options.device.json
        let configuration: AgentConfiguration
        do throws(ClientFailure) {
            configuration = try options.configuration(environment)
        } catch {
            return await report(error, environment)
        }
        let code = await environment.attempt(asJSON: asJSON) {
            let findings = try await findings(of: configuration, environment)
            isInOrder = findings.faults.isEmpty
            if asJSON {
                try environment.output(Self.json(configuration.directories.count, findings).text)
                return
            }
            for line in findings.notes + findings.faults {
                environment.errorOutput("data-gateway: \(TextLayout.printable(line))")
            }
            guard isInOrder else { return }
            let count = TextLayout.count(configuration.directories.count, "directory", "directories")
            try environment.output("no faults: \(count)")
        }
        return code == .success && !isInOrder ? .refused : code
    }

    /// Reports a configuration that cannot be read: its faults are findings, as those of its directories are.
    private func report(_ failure: ClientFailure, _ environment: CommandEnvironment) async -> ExitCode {
        let faults = failure.faults.isEmpty ? [failure.message] : failure.faults
        let code = await environment.attempt(asJSON: options.device.json) {
            if options.device.json {
                try environment.output(Self.json(0, Findings(faults: faults)).text)
            } else {
                for fault in faults { environment.errorOutput("data-gateway: \(TextLayout.printable(fault))") }
            }
        }
        return code == .success ? failure.exitCode : code
    }

    private static func json(_ directories: Int, _ findings: Findings) -> JSONValue {
        .object([
            JSONValue.Member(name: "directories", value: .number(Int64(directories))),
            JSONValue.Member(name: "faults", value: .array(findings.faults.map { .string($0) })),
            JSONValue.Member(name: "notes", value: .array(findings.notes.map { .string($0) })),
        ])
    }

    private func findings(
        of configuration: AgentConfiguration, _ environment: CommandEnvironment
    ) async throws -> Findings {
        let folder = try options.device.deviceFolder(environment)
        var findings = Findings(notes: configuration.overlaps(with: folder))
        for directory in configuration.directories {
            if let file = Self.fileWithUnknownWriters(in: directory, DirectoryIdentity(folder.path)) {
                findings.notes.append(
                    """
                    the system does not show this user whether \(file) is being written: in \(directory.path), \
                    settle_seconds alone decides
                    """)
            }
            findings.faults += Self.faults(of: directory, DirectoryIdentity(folder.path))
        }
        if let metricsFile = configuration.metricsFile, access(Path.folder(of: metricsFile), W_OK | X_OK) != 0 {
            findings.faults.append("metrics_file \(metricsFile) cannot be written: \(String(cString: strerror(errno)))")
        }
        do {
            try await checkKey(environment)
        } catch {
            findings.faults.append(ClientFailure(error, file: "key", hint: "try again later").message)
        }
        return findings
    }

    private func checkKey(_ environment: CommandEnvironment) async throws {
        let folder = try options.device.deviceFolder(environment)
        _ = try folder.initializedConfiguration()
        guard !isOffline else { return }
        var transfer = Uploader.Options()
        transfer.authorities = environment.authorities
        transfer.retries = RetryPolicy(retryDuration: .zero)
        try await Uploader(folder, options: transfer, clock: environment.clock) { _ in }.checkKey()
    }

    /// The faults of the directory, and of those below it that the agent would read.
    private static func faults(
        of directory: AgentConfiguration.Directory, _ deviceFolder: DirectoryIdentity?
    ) -> [String] {
        if let fault = fault(of: directory) { return [fault] }
        var faults: [String] = []
        let tree = FileTree(directory.path, isRecursive: directory.isRecursive, except: deviceFolder)
        do throws(FolderListing.Failure) {
            try tree.forEach(failed: { faults.append("\($0)") }) { _, _ in }
        } catch {
            faults.append("\(error)")
        }
        return faults
    }

    /// A file of the directory of which the system does not say whether a process has it open for writing: another user's, where
    /// this one lacks CAP_LEASE, or one on a network file system. `nil` without such a file, or without any file.
    private static func fileWithUnknownWriters(
        in directory: AgentConfiguration.Directory, _ deviceFolder: DirectoryIdentity?
    ) -> String? {
        var file: String?
        // Directories that cannot be read are reported separately.
        let tree = FileTree(directory.path, isRecursive: directory.isRecursive, except: deviceFolder)
        try? tree.forEach(failed: { _ in }) { found, _ in
            guard file == nil, directory.filter.admits(found.relativePath) else { return }
            if SourceIdentity.isBeingWritten(found.path) == nil { file = found.path }
        }
        return file
    }

    private static func fault(of directory: AgentConfiguration.Directory) -> String? {
        var status = stat()
        guard stat(directory.path, &status) == 0 else {
            return "\(directory.path): \(String(cString: strerror(errno)))"
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "\(directory.path) is not a directory" }
        guard access(directory.path, R_OK | X_OK) == 0 else { return "\(directory.path) cannot be read by this user" }
        guard directory.afterUpload == .keep || access(directory.path, W_OK) == 0 else {
            return "\(directory.path): this user cannot delete files in it, which after_upload requires"
        }
        return nil
    }
}
