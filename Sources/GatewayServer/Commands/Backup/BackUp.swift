import Backup
import Basics
import CommandLineInterface
import Foundation
import Proto
import RPC

/// `data-gateway backup`
struct BackUp: ClientCommand {
    static let name = "backup"
    static let summary = "Write all that a running gateway keeps into one file"
    static let discussion = [
        """
        The file holds the database, the server's own keys and the objects, and is enough to restore the gateway: keep \
        it as secret as the gateway, or encrypt it. It appears under its name when all of it is on the disk. Only admins \
        of the organization 'system' may do it; clients are served meanwhile.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--to", "FILE", \.path, "The archive; it must not exist", isRequired: true),
            .passphrase(\.passphrasePath),
            .flag(
                "--without-objects", \.withoutObjects,
                "Leave the objects' data out: for restores over the store that is there"),
        ] + connectionParameters
    }

    var path = ""
    var passphrasePath: String?
    var withoutObjects = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let file = try ArchiveDestination(path, passphrase: try Passphrase.read(passphrasePath))
        do {
            let request = BackupRequest(withoutObjects: withoutObjects)
            try await BackupServiceClient(gateway).backup(request) { try file.receive($0) }
            let summary = try file.finish()
            return Reply(
                json: .object([
                    .init(name: "file", value: .string(path)),
                    .init(name: "objects", value: .number(summary.objects)),
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

    private static func text(_ summary: BackupSummary, _ path: String, withoutObjects: Bool) -> String {
        var lines = ["\(path): \(TextLayout.count(summary.objects, "object"))"]
        lines[0] += withoutObjects ? ", without their data" : ", \(summary.bytes) bytes of data"
        if summary.missingObjects > 0 {
            lines.append(
                "missing: \(summary.missingObjects) objects have no data in the store; see data-gateway doctor")
        }
        if summary.damagedObjects > 0 {
            lines.append(
                "damaged: the data of \(summary.damagedObjects) objects is not what was stored, or cannot be read:")
            lines += summary.damagedFileIDs.map { "  \($0)" }
            if summary.damagedObjects > summary.damagedFileIDs.count {
                lines.append("  and \(summary.damagedObjects - Int64(summary.damagedFileIDs.count)) more")
            }
        }
        return lines.joined(separator: "\n")
    }
}
