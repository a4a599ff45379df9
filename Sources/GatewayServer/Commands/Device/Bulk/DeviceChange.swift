import Basics
import CommandLineInterface
import DeviceInit
import JSON
import Proto
import RPC

/// The calls needed to give a device the values of its line in a table.
struct DeviceChange: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case register(RegisterDeviceRequest)
        case update([Step])
        case none
    }

    /// A call; the calls are made in this order.
    enum Step: Sendable, Equatable {
        case describe(UpdateDeviceRequest)
        case leaveSuite(RemoveDeviceFromSuiteRequest)
        case joinSuite(AddDeviceToSuiteRequest)
    }

    let line: Int
    let deviceID: String
    let kind: Kind
    /// The columns that differ from the gateway's values.
    let columns: [String]

    /// - Parameters:
    ///   - device: the gateway's device; `nil` = it is not registered.
    /// - Throws: if the line cannot be applied.
    init(_ line: DeviceLine, over device: Device?, suites: SuiteNames) throws(TableProblem) {
        let suite: String
        do throws(ClientFailure) {
            suite = try suites.name(of: line.suite)
        } catch {
            throw TableProblem(line: line.line, column: "suite", message: error.message)
        }
        let tags = line.tags(over: device?.tags ?? [:])
        do {
            try DeviceRules.tags(tags)
        } catch {
            throw TableProblem(line: line.line, column: "tags", message: error.message)
        }
        self.line = line.line
        deviceID = line.deviceID
        guard let device else {
            kind = .register(
                RegisterDeviceRequest(
                    deviceID: line.deviceID, displayName: line.displayName ?? "", description: line.description ?? "",
                    suite: suite, tags: tags))
            columns = []
            return
        }
        var columns: [String] = []
        if let name = line.displayName, name != device.displayName { columns.append("display_name") }
        if let text = line.description, text != device.description { columns.append("description") }
        if tags != device.tags { columns.append("tags") }
        var steps: [Step] = []
        if !columns.isEmpty {
            steps.append(
                .describe(
                    UpdateDeviceRequest(
                        name: device.name, displayName: line.displayName, description: line.description, tags: tags,
                        replaceTags: true)))
        }
        if !suite.isEmpty, suite != device.suite {
            columns.append("suite")
            if !device.suite.isEmpty {
                steps.append(.leaveSuite(RemoveDeviceFromSuiteRequest(suite: device.suite, device: device.name)))
            }
            steps.append(.joinSuite(AddDeviceToSuiteRequest(suite: suite, device: device.name)))
        }
        self.columns = columns
        kind = steps.isEmpty ? .none : .update(steps)
    }

    func apply(_ registry: DeviceManagementServiceClient<SignedInConnection>) async throws {
        switch kind {
        case .register(let request):
            _ = try await registry.registerDevice(request)
        case .update(let steps):
            for step in steps {
                switch step {
                case .describe(let request): _ = try await registry.updateDevice(request)
                case .leaveSuite(let request): _ = try await registry.removeDeviceFromSuite(request)
                case .joinSuite(let request): _ = try await registry.addDeviceToSuite(request)
                }
            }
        case .none:
            break
        }
    }
}

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
