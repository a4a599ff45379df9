import Backup
import Basics
import CommandLineInterface
import Doctor
import FoundationEssentials
import JSON
import Uploads

/// The findings and repairs of the doctor, for programs and for people.
struct DoctorReply {
    struct Treatment {
        var acceptsRootKey = false
        var recounts = false
        /// `nil` if it was not requested.
        var quarantined: Int?
        var readopted: [Doctor.RepairResult] = []
        var deleted: [Doctor.RepairResult] = []

        var problems: [Doctor.RepairResult] { (readopted + deleted).filter { $0.problem != nil } }
    }

    private let report: Doctor.Report
    private let treatment: Treatment

    init(_ report: Doctor.Report, _ treatment: Treatment) {
        self.report = report
        self.treatment = treatment
    }

    var reply: Reply { Reply(json: json, text: lines.joined(separator: "\n")) }

    private var json: JSONValue {
        .object([
            .init(name: "in_order", value: .bool(report.isInOrder)),
            .init(name: "database_damages", value: .array(report.damages.map { .string($0) })),
            .init(name: "key_problems", value: .array(report.keys.map { .string($0) })),
            .init(name: "same_age", value: .bool(report.belongTogether)),
            .init(name: "missing", value: report.missing.json),
            .init(name: "damaged", value: report.damaged.json),
            .init(name: "unknown", value: report.unknown.json),
            .init(name: "scheduled_removals", value: report.scheduled.json),
            .init(name: "interrupted_uploads", value: report.interrupted.json),
            .init(name: "stray_files", value: report.stray.json),
            .init(name: "quarantined", value: .array(report.quarantined.map(\.json))),
            .init(name: "unlisted", value: .array(report.unlisted.map(\.json))),
            .init(name: "miscounted_quarter_hours", value: .number(Int64(report.miscounted))),
            .init(name: "settled", value: treatment.quarantined.map { .number(Int64($0)) } ?? .null),
            .init(name: "taken_in", value: .array(treatment.readopted.map(\.json))),
            .init(name: "deleted", value: .array(treatment.deleted.map(\.json))),
        ])
    }

    private var lines: [String] {
        var lines: [String] = []
        if let quarantined = treatment.quarantined {
            lines.append("reconciled: \(quarantined) files moved to quarantine")
        }
        lines += treatment.readopted.map {
            "\($0.fileID): \($0.problem.map { "not re-adopted: \($0)" } ?? "re-adopted")"
        }
        lines += treatment.deleted.map { "\($0.fileID): \($0.problem.map { "not deleted: \($0)" } ?? "deleted")" }
        if treatment.acceptsRootKey { lines.append("the root key is that of the database from now on") }
        if treatment.recounts { lines.append("the objects of each day were counted again") }
        lines += report.damages.map { "database: \($0)" }
        if !report.damages.isEmpty {
            lines.append(
                """
                the database \(report.database) is damaged: keep a copy of it, and restore a backup over the data directory \
                ('data-gateway restore'); objects that the backup does not have move to quarantine, and --readopt lists them
                """)
        }
        if report.isIncomplete { lines.append("the database was not compared with the store") }
        lines += report.keys.map { "keys: \($0)" }
        if !report.belongTogether {
            lines.append(
                "the database and the store were not last used together: nothing is deleted; --reconcile makes them match"
            )
        }
        lines += report.missing.lines("objects without their data")
        lines += report.damaged.lines("objects that do not match their checksum or cannot be read")
        lines += report.unknown.lines(
            "finished files that the database does not have (the next start moves them to quarantine)")
        lines += report.scheduled.lines("files of what was deleted, which the gateway still has to remove")
        lines += report.interrupted.lines("uploads in progress without their file (their clients restart)")
        lines += report.stray.lines("files of uploads in progress without a row (deleted when they are 30 days old)")
        lines += Self.list("in quarantine", report.quarantined)
        lines += Self.list("completed but not listed (--readopt lists them)", report.unlisted)
        if report.miscounted > 0 {
            lines.append(
                "counts of objects by day are wrong for \(TextLayout.count(Int64(report.miscounted), "quarter hour")): --recount corrects them"
            )
        }
        lines.append(report.isInOrder ? "no problems found" : "problems found")
        return lines
    }

    private static func list(_ title: String, _ files: [Doctor.Unlisted]) -> [String] {
        files.isEmpty ? [] : ["\(title): \(files.count)"] + files.map(\.line)
    }
}

extension Doctor.RepairResult {
    fileprivate var json: JSONValue {
        .object([
            .init(name: "file_id", value: .string(fileID)),
            .init(name: "problem", value: problem.map { .string($0) } ?? .null),
        ])
    }
}

extension Doctor.Unlisted {
    private var time: String { Self.text(at) }

    private static func text(_ time: UnixTime) -> String {
        Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
    }

    fileprivate var line: String {
        let known =
            facts.map { "\($0.deviceID ?? "the site")\($0.fileName.map { " \($0)" } ?? "")" }
            ?? "never completed: --delete removes it"
        let deleted = deletion.map { "  \($0)" } ?? ""
        return TextLayout.printable("  \(fileID)  \(ByteCount.text(size))  \(time)  \(known)\(deleted)")
    }

    fileprivate var json: JSONValue {
        .object([
            .init(name: "file_id", value: .string(fileID)),
            .init(name: "size_bytes", value: .number(size)),
            .init(name: "at", value: .string(time)),
            .init(name: "can_be_taken_in", value: .bool(facts != nil)),
            .init(
                name: "deleted_at",
                value: deletion.map { .string(Self.text($0.at)) } ?? .null),
            .init(name: "deleted_by", value: deletion.map { .string($0.actor) } ?? .null),
            .init(name: "deletion_reason", value: deletion.map { .string($0.reason) } ?? .null),
            .init(name: "object_id", value: facts.map { .string($0.objectID) } ?? .null),
            .init(name: "device_id", value: facts?.deviceID.map { .string($0) } ?? .null),
            .init(name: "file_name", value: facts?.fileName.map { .string($0) } ?? .null),
        ])
    }
}
