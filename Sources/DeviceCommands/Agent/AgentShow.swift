import Basics
import CommandLineInterface
import DeviceAgent
import DeviceClient
import JSON

/// `data-gateway agent status`
struct AgentShow: Command {
    static let name = "status"
    static let summary = "Show what the agent on this machine is doing"
    static let discussion = ["Exits with 1 if no agent is running."]
    static let examples = ["agent status"]

    static var parameters: [Parameter<Self>] {
        DeviceOptions.parameters(json: "Print one JSON object").map { $0.at(\.device) }
    }

    var device = DeviceOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.attempt(asJSON: device.json) {
            let folder = AgentFolder(deviceFolder: try device.deviceFolder(environment).path)
            let isRunning = folder.isRunning()
            let status: AgentStatus?
            do throws(PrivateFile.Failure) {
                status = try folder.status()
            } catch {
                throw ClientFailure("cannot read \(error.reason)")
            }
            guard let status else {
                throw ClientFailure(
                    isRunning
                        ? "the agent has not written its status yet"
                        : """
                        no agent has run with the device's folder \(try device.deviceFolder(environment).path); \
                        --device-dir names that of a service, such as /var/lib/data-gateway-device
                        """)
            }
            let reply = AgentReply(status: status, isRunning: isRunning)
            try environment.output(device.json ? reply.json.text : reply.text)
            if !isRunning { throw ClientFailure("the agent is not running") }
        }
    }
}

/// An agent's status, and whether it is running.
private struct AgentReply: Resource {
    static let columns = ["is_running", "pending_files"]

    let status: AgentStatus
    let isRunning: Bool

    var fields: [ResourceField] {
        [
            ResourceField(name: "is_running", json: .bool(isRunning), text: isRunning ? "yes" : "no"),
            ResourceField(name: "is_paused", json: .bool(status.isPaused), text: status.isPaused ? "yes" : "no"),
            .text("version", status.version),
            .unixTime("started_at", status.startedAt), .unixTime("updated_at", status.updatedAt),
            .number("pending_files", Int64(status.pendingFiles), shownAs: "\(status.pendingFiles)"),
            .size("pending_bytes", status.pendingBytes),
            ResourceField(
                name: "waiting", json: .array((status.waiting ?? []).map(\.json)),
                text: (status.waiting ?? []).map(\.text).joined(separator: "; ")),
            .number("uploaded_files", Int64(status.uploadedFiles), shownAs: "\(status.uploadedFiles)"),
            .size("uploaded_bytes", status.uploadedBytes),
            .number("deleted_files", Int64(status.deletedFiles), shownAs: "\(status.deletedFiles)"),
            .number("failed_attempts", Int64(status.failedAttempts), shownAs: "\(status.failedAttempts)"),
            .number("refused_files", Int64(status.refusedFiles), shownAs: "\(status.refusedFiles)"),
            ResourceField(
                name: "refusals", json: .array(status.refusals.map(\.json)),
                text: status.refusals.map { "\($0.file): \($0.message)" }.joined(separator: "; ")),
            ResourceField(
                name: "uploading", json: .array(status.uploading.map(\.json)),
                text: status.uploading.map(\.text).joined(separator: ", ")),
            .number(
                "failed_directories", Int64(status.failedDirectories), shownAs: "\(status.failedDirectories)"),
            ResourceField(
                name: "directory_failures", json: .array(status.directoryFailures.map { .string($0) }),
                text: status.directoryFailures.joined(separator: "; ")),
            ResourceField(
                name: "failures", json: .array(status.failures.map(\.json)),
                text: status.failures.map { "\($0.file): \($0.message)" }.joined(separator: "; ")),
        ]
    }

    var text: String { Reply(self).text }
}

extension AgentStatus.Waiting {
    /// A sentence without a full stop.
    fileprivate var text: String {
        let time = until.map { LocalTime.text(UnixTime(seconds: $0)) } ?? ""
        return switch reason {
        case .open: "\(file) is open for writing"
        case .settling: "\(file) has to stay unchanged until \(time)"
        case .retry: "\(file) is tried again at \(time)\(message.map { ", because \($0)" } ?? "")"
        case .turn: "\(file) waits for other uploads"
        case .paused: "\(file) waits, because nothing is sent at this time of day"
        }
    }

    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "file", value: .string(file)),
            JSONValue.Member(name: "reason", value: .string(reason.rawValue)),
            JSONValue.Member(
                name: "until", value: until.map { .string(RFC3339.text(UnixTime(seconds: $0))) } ?? .null),
            JSONValue.Member(name: "message", value: message.map { .string($0) } ?? .null),
        ])
    }
}

extension AgentStatus.Uploading {
    fileprivate var text: String {
        let failure = message.map { ", trying again: \($0)" } ?? ""
        return "\(file) (\(ByteCount.text(doneBytes)) of \(ByteCount.text(sizeBytes))\(failure))"
    }

    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "file", value: .string(file)),
            JSONValue.Member(name: "done_bytes", value: .number(doneBytes)),
            JSONValue.Member(name: "size_bytes", value: .number(sizeBytes)),
            JSONValue.Member(name: "message", value: message.map { .string($0) } ?? .null),
        ])
    }
}

extension AgentStatus.Failure {
    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "file", value: .string(file)),
            JSONValue.Member(name: "message", value: .string(message)),
            JSONValue.Member(name: "attempts", value: .number(Int64(attempts))),
        ])
    }
}

extension AgentStatus.Refusal {
    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "file", value: .string(file)),
            JSONValue.Member(name: "message", value: .string(message)),
        ])
    }
}
