package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway objects copy`
struct EngineCopyStart: ClientCommand {
    static let name = "copy"
    static let summary = "Copy the bytes of all objects to the engine in the gateway's configuration"
    static let discussion = [
        """
        Set objects.engine to the new engine and objects.previous_engine to the one that has the objects, and restart the \
        gateway first: new objects are stored in the new engine at once. The gateway copies the others while it serves, and \
        continues after a restart. The command returns as soon as the copy has begun; 'objects show' shows its progress. \
        Repeat it if objects could not be copied.
        """
    ]
    static let examples = ["objects copy --to s3", "objects copy --to directory"]

    static var parameters: [Parameter<Self>] {
        [.option("--to", "ENGINE", \.target, "The engine: s3 or directory", isRequired: true)] + connectionParameters
    }

    var target = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await SystemServiceClient(gateway).startEngineCopy(StartEngineCopyRequest(target: target)))
    }
}

/// `data-gateway objects show`
struct EngineCopyShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the progress of the copy to another engine"
    static let examples = ["objects show"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await SystemServiceClient(gateway).getEngineCopy(GetEngineCopyRequest()))
    }
}

/// `data-gateway objects stop`
struct EngineCopyStop: ClientCommand {
    static let name = "stop"
    static let summary = "End the copy to another engine; what was copied stays there"
    static let examples = ["objects stop"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await SystemServiceClient(gateway).stopEngineCopy(StopEngineCopyRequest()))
    }
}

extension EngineCopyProgress: Resource {
    package static let columns = ["target", "state", "copied_objects", "remaining_objects"]

    package var fields: [ResourceField] {
        [
            .text("target", target),
            .text("state", "ENGINE_COPY_STATE_\("\(state)".snakeCased)", shownAs: "\(state)".words),
            .text("reason", reason), .time("started_at", startedAt), .number("copied_objects", copiedObjects),
            .size("copied_bytes", copiedBytes), .number("remaining_objects", remainingObjects),
            .size("remaining_bytes", remainingBytes), .number("remaining_uploads", remainingUploads),
            ResourceField(
                name: "failures",
                json: .array(
                    failures.map { failure in
                        .object([
                            JSONValue.Member(name: "bucket", value: .string(failure.bucket)),
                            JSONValue.Member(name: "key", value: .string(failure.key)),
                            JSONValue.Member(name: "reason", value: .string(failure.reason)),
                        ])
                    }),
                text: failures.map { "\($0.bucket)/\($0.key): \($0.reason)" }.joined(separator: "\n")),
        ]
    }
}
