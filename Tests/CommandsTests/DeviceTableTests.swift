import CommandLineInterface
import Proto
import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimited) struct DeviceTableTests {
    private static let id = "260427-000001"

    @Test(arguments: [
        ("", [:]), (";;", [:]), ("a=1", ["a": "1"]), ("a=1; b=;c=x=y;", ["a": "1", "b": "", "c": "x=y"]),
        (#"a\=b=1\;2\\;\ c= d "#, ["a=b": #"1;2\"#, " c": " d "]),
    ])
    func tagListsAreReadAndWritten(text: String, expected: [String: String]) throws {
        #expect(try TagList.tags(text) == expected)
        #expect(try TagList.tags(TagList.text(expected)) == expected)
    }

    @Test(arguments: ["a", "a=1;b", "a=1;a=2", #"a=1\"#])
    func malformedTagListIsRefused(text: String) {
        #expect(throws: TagList.Problem.self) { try TagList.tags(text) }
    }

    @Test func aLineSaysOnlyWhatItsTableHasColumnsFor() {
        let table = DeviceTable(csv: Array("device_id,tag:line\n\(Self.id),3\n".utf8))
        #expect(table.problems.isEmpty)
        #expect(
            table.lines == [
                DeviceLine(
                    line: 2, deviceID: Self.id, suite: "", displayName: nil, description: nil, allTags: nil,
                    singleTags: ["line": "3"])
            ])
    }

    @Test(arguments: [
        ("", ["f:1: must have a header: device_id,suite,display_name,description,tags"]),
        ("device_id,suit\n", ["f:1: suit: the column is unknown; did you mean suite?"]),
        ("device_id,tag:\n", ["f:1: tag:: must be followed by a key"]),
        ("suite,suite\n", ["f:1: suite: is given 2 times", "f:1: device_id: is missing"]),
        ("device_id\n\"x", ["f:2: the closing quote is missing"]),
        ("device_id,suite\n\(id)\n", ["f:2: has 1 fields, but the header has 2"]),
        (
            "device_id,suite,tags\nx,1,a\n",
            [
                "f:2: device_id: a device id must have the form YYMMDD-NNNNNN (digits)",
                "f:2: tags: must be KEY=VALUE;KEY=VALUE, not 'a'",
            ]
        ),
        ("device_id,suite\n\(id),deviceSuites/x\n", ["f:2: suite: must be deviceSuites/NUMBER"]),
        (
            "device_id\n\(id)\n\n\(id)\n", ["f:4: device_id: \(id) is already in line 2"]
        ),
        (
            "device_id,display_name\n\(id),\(String(repeating: "x", count: 129))\n",
            ["f:2: display_name: must be at most 128 bytes"]
        ),
    ])
    func problemsNameTheirLineAndColumn(text: String, problems: [String]) {
        #expect(DeviceTable(csv: Array(text.utf8)).problems.map { $0.text(in: "f") } == problems)
    }

    @Test func aFileIsReadToABoundOnly() {
        let wrong = DeviceTable(csv: Array(("device_id\n" + String(repeating: "x\n", count: 1500)).utf8))
        #expect(wrong.problems.count == 1001)
        #expect(wrong.problems.last?.text(in: "f") == "f:1002: the rest was not read after 1000 problems")
        let ids = (0...100_000).map { number in "260427-\(String(1_000_000 + number).dropFirst())" }
        let many = DeviceTable(csv: Array((["device_id"] + ids).joined(separator: "\n").utf8))
        #expect(many.lines.count == 100_000)
        let problem = many.problems.first?.text(in: "f")
        #expect(problem == "f:100002: a file can have at most 100000 devices: split the file")
    }

    @Test func exportedCellsAreNoFormulas() {
        let device = Device(
            name: "devices/\(Self.id)", deviceID: Self.id, displayName: "=HYPERLINK(\"http://x\")", description: "@x",
            tags: ["-a": "1"])
        let line = DeviceTable.csv(of: [device]).split(separator: "\n").last
        #expect(line == "\(Self.id),,\"'=HYPERLINK(\"\"http://x\"\")\",'@x,'-a=1")
    }

    @Test func importOfAnExportChangesNothing() throws {
        let devices = [
            Device(
                name: "devices/\(Self.id)", deviceID: Self.id, displayName: "'=1", description: "=1",
                suite: "deviceSuites/7", tags: ["a;b": "1\\2", "c": ""]),
            Device(name: "devices/260427-000002", deviceID: "260427-000002"),
        ]
        let table = DeviceTable(csv: Array(DeviceTable.csv(of: devices).utf8))
        #expect(table.problems.isEmpty)
        #expect(table.lines.count == 2)
        for (line, device) in zip(table.lines, devices) {
            #expect(try DeviceChange(line, over: device, suites: Self.suites).kind == .none)
        }
    }

    private static let suites = SuiteNames([
        DeviceSuite(name: "deviceSuites/7", displayName: "Arms, left"),
        DeviceSuite(name: "deviceSuites/8", displayName: "Masts"),
        DeviceSuite(name: "deviceSuites/9", displayName: "Twins"),
        DeviceSuite(name: "deviceSuites/10", displayName: "Twins"),
    ])

    @Test(arguments: ["7", "deviceSuites/7", "Arms, left"])
    func aSuiteIsFoundByEachOfItsNames(_ suite: String) throws {
        let change = try change("device_id,suite\n\(Self.id),\"\(suite)\"\n", over: nil)
        guard case .register(let request) = change.kind else {
            Issue.record("\(change.kind)")
            return
        }
        #expect(request.suite == "deviceSuites/7")
    }

    @Test(arguments: [
        ("11", "deviceSuites/11 does not exist"),
        ("masts", "no suite is named \"masts\""),
        ("Twins", "several suites are named \"Twins\": use one of deviceSuites/9, deviceSuites/10"),
    ])
    func aSuiteThatCannotBeFoundIsAProblemOfTheLine(_ suite: String, _ message: String) {
        #expect(throws: TableProblem(line: 2, column: "suite", message: message)) {
            try change("device_id,suite\n\(Self.id),\(suite)\n", over: nil)
        }
    }

    private func change(_ csv: String, over device: Device?) throws -> DeviceChange {
        let line = try #require(DeviceTable(csv: Array(csv.utf8)).lines.first)
        return try DeviceChange(line, over: device, suites: Self.suites)
    }

    @Test func unknownDeviceIsRegistered() throws {
        let change = try change("device_id,suite,tags,tag:b,tag:c\n\(Self.id),7,a=1;c=4,2,\n", over: nil)
        #expect(
            change.kind
                == .register(
                    RegisterDeviceRequest(
                        deviceID: Self.id, displayName: "", description: "", suite: "deviceSuites/7",
                        tags: ["a": "1", "b": "2"])))
    }

    @Test func aDeviceOfAnotherSuiteMoves() throws {
        let device = Device(name: "devices/\(Self.id)", deviceID: Self.id, suite: "deviceSuites/7", tags: ["a": "1"])
        let change = try change("device_id,suite,display_name,tag:b\n\(Self.id),8,Arm,2\n", over: device)
        #expect(change.columns == ["display_name", "tags", "suite"])
        #expect(
            change.kind
                == .update([
                    .describe(
                        UpdateDeviceRequest(
                            name: device.name, displayName: "Arm", description: nil, tags: ["a": "1", "b": "2"],
                            replaceTags: true)),
                    .leaveSuite(RemoveDeviceFromSuiteRequest(suite: "deviceSuites/7", device: device.name)),
                    .joinSuite(AddDeviceToSuiteRequest(suite: "deviceSuites/8", device: device.name)),
                ]))
    }

    @Test func anEmptyCellEmptiesEverythingButTheSuite() throws {
        let device = Device(
            name: "devices/\(Self.id)", deviceID: Self.id, displayName: "Arm", suite: "deviceSuites/7",
            tags: ["a": "1", "b": "2"])
        let change = try change("device_id,suite,display_name,tag:a\n\(Self.id),,,\n", over: device)
        #expect(
            change.kind
                == .update([
                    .describe(
                        UpdateDeviceRequest(
                            name: device.name, displayName: "", description: nil, tags: ["b": "2"], replaceTags: true))
                ]))
    }
}
