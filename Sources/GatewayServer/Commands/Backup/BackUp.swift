import Backup
import Basics
import CommandLineInterface
import DeviceCommands
import JSON
import Proto
import RPC

/// `data-gateway backup`
struct BackUp: ClientCommand {
    static let name = "backup"
    static let summary = "Back up a running gateway into one file"
    static let discussion = [
        """
        The file holds the database, the gateway's keys and the objects, which is all that a restore needs. Keep it as \
        secret as the gateway, or encrypt it. It appears under its name only when it is complete and on the disk; after \
        Ctrl-C nothing is left of it. The command requires an admin of the organization 'system'. The gateway serves \
        clients meanwhile. A terminal shows the progress.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--to", "FILE", \.path, "Write the archive to this file, which must not exist", isRequired: true),
            .passphrase(\.passphrasePath),
            .flag(
                "--without-objects", \.withoutObjects,
                "Leave out the objects' data; such an archive can only be restored over the existing store"),
        ] + connectionParameters
    }

    var path = ""
    var passphrasePath: String?
    var withoutObjects = false
    var connection = ConnectionOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        let reporter = TransferReporter(environment, asJSON: false)
        return await Interruption.cancelling {
            await environment.report(asJSON: connection.json, as: connection.output) {
                do {
                    return try await reporter.watching {
                        let gateway = try await SignedInConnection(connection, listener: Self.listener, in: environment)
                        return try await call(gateway, reporter)
                    }
                } catch  where Task.isCancelled {
                    throw ClientFailure("the backup was interrupted, and \(path) was not written")
                }
            }
        }
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        try await call(gateway, TransferReporter(.process, asJSON: false))
    }

    private func call(_ gateway: SignedInConnection, _ reporter: TransferReporter) async throws -> Reply {
        let file = try ArchiveDestination(path, passphrase: try Passphrase.read(passphrasePath))
        do {
            let request = BackupRequest(withoutObjects: withoutObjects)
            reporter.begin(path, name: Path.name(of: path), total: await expectedBytes(gateway), done: 0)
            defer { reporter.end(path) }
            try await BackupServiceClient(gateway).backup(request) { chunk in
                try file.receive(chunk)
                reporter.add(Int64(chunk.data.count), to: path)
            }
            let summary = try file.finish()
            return Reply(
                json: .object([
                    .init(name: "file", value: .string(path)),
                    .init(name: "objects", value: .number(summary.objects)),
                    .init(name: "size_bytes", value: .number(summary.bytes)),
                    // Stays for one release.
                    .init(name: "bytes", value: .number(summary.bytes)),
                    .init(name: "missing_objects", value: .number(summary.missingObjects)),
                    .init(name: "damaged_objects", value: .number(summary.damagedObjects)),
                    .init(name: "damaged_file_ids", value: .array(summary.damagedFileIDs.map { .string($0) })),
                ]), text: Self.text(summary, path, withoutObjects: withoutObjects))
        } catch {
            file.abandon()
            throw error
        }
    }

    /// Returns the size of the data that the archive will about have; `nil` if it is not known.
    private func expectedBytes(_ gateway: SignedInConnection) async -> Int64? {
        guard !withoutObjects else { return nil }
        let service = ObjectManagementServiceClient(gateway)
        // Only for the progress: whatever fails here, the backup may succeed.
        return try? await service.getStatistics(GetStatisticsRequest(days: 1)).storedBytes
    }

    private static func text(_ summary: BackupSummary, _ path: String, withoutObjects: Bool) -> String {
        var lines = ["\(path): \(TextLayout.count(summary.objects, "object"))"]
        lines[0] += withoutObjects ? ", without object data" : ", \(ByteCount.text(summary.bytes)) of data"
        if summary.missingObjects > 0 {
            lines.append(
                "missing: the store has no data of \(summary.missingObjects) objects; run data-gateway doctor")
        }
        if summary.damagedObjects > 0 {
            lines.append(
                "damaged: \(summary.damagedObjects) objects do not match their checksum or cannot be read:")
            lines += summary.damagedFileIDs.map { "  \($0)" }
            if summary.damagedObjects > summary.damagedFileIDs.count {
                lines.append("  and \(summary.damagedObjects - Int64(summary.damagedFileIDs.count)) more")
            }
        }
        return lines.joined(separator: "\n")
    }
}
