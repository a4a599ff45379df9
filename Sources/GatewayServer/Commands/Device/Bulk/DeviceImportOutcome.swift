import Basics
import CommandLineInterface
import JSON

/// The changes of an import, made or only planned.
struct DeviceImportOutcome: Sendable {
    let changes: [DeviceChange]
    let isDry: Bool

    var reply: Reply {
        let counts = [
            ("registered", changes.count { $0.word == "registered" }),
            ("updated", changes.count { $0.word == "updated" }),
            ("unchanged", changes.count { $0.word == "unchanged" }),
        ]
        var lines = changes.filter { $0.kind != .none }.map { change in
            [change.deviceID, isDry ? "would be \(change.word)" : change.word, change.columns.joined(separator: ", ")]
        }
        if lines.allSatisfy({ $0[2].isEmpty }) { lines = lines.map { Array($0.prefix(2)) } }
        let summary = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        return Reply(
            json: .object(
                [.init(name: "dry_run", value: .bool(isDry))]
                    + counts.map { .init(name: $0.0, value: .number(Int64($0.1))) }
                    + [.init(name: "devices", value: .array(changes.map(\.json)))]),
            text: (lines.isEmpty ? "" : TextLayout.table(lines) + "\n")
                + (isDry ? "would be: \(summary); nothing was changed" : summary))
    }
}

extension DeviceChange {
    fileprivate var word: String {
        switch kind {
        case .register: "registered"
        case .update: "updated"
        case .none: "unchanged"
        }
    }

    fileprivate var json: JSONValue {
        .object([
            .init(name: "line", value: .number(Int64(line))),
            .init(name: "device_id", value: .string(deviceID)),
            .init(name: "outcome", value: .string(word)),
            .init(name: "columns", value: .array(columns.map(JSONValue.string))),
        ])
    }
}
