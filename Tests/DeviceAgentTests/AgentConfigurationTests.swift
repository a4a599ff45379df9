import DeviceClient
import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.timeLimited) struct AgentConfigurationTests {
    @Test func everyMemberIsRead() throws {
        let configuration = try AgentConfigurationFile.parse(
            Array(
                """
                {
                  
                  "directories": [{
                    "path": "/data/runs/", "include": ["*.mcap"], "exclude": ["*.tmp"], "recursive": false,
                    "tags": {"line": "3", "run": "{dir1}"}, "priority": 7, "settle_seconds": 2,
                    "after_upload": "delete_when_full"
                  }],
                  "rate": "10MiB", "rates": [{"from": "22:00", "to": "06:30", "rate": "unlimited"}],
                  "minimum_free": "5GiB", "files": 3, "parts": 4, "rescan_seconds": 60, "metrics_file": "/run/a.prom"
                }
                """.utf8))
        let directory = try #require(configuration.directories.first)
        #expect(directory.path == "/data/runs")
        #expect(directory.filter.admits("a.mcap") && !directory.filter.admits("a.tmp"))
        #expect(!directory.isRecursive)
        #expect(directory.tags.keys == ["line", "run"])
        #expect((directory.priority, directory.settling) == (7, .seconds(2)))
        #expect(directory.afterUpload == .deleteWhenFull)
        #expect(configuration.minimumFree == 5 << 30)
        #expect((configuration.files, configuration.parts, configuration.rescan) == (3, 4, .seconds(60)))
        #expect(configuration.metricsFile == "/run/a.prom")
        #expect(configuration.rates.rate(atMinute: 12 * 60) == 10 << 20)
        #expect(configuration.rates.rate(atMinute: 0) == nil)
    }

    @Test func shortestFileIsValid() throws {
        let configuration = try AgentConfigurationFile.parse(Array(AgentConfigurationFile.shortest.utf8))
        #expect(configuration.directories.map(\.path) == ["/data/recordings"])
    }

    @Test(arguments: [
        ("{\"files\": 1\n \"rate\": 0}", "line 2, column 2"), ("{", "line 1, column 2"), ("", "line 1, column 1"),
        ("{}\n]", "line 2, column 1"), (String(repeating: "[", count: 100_000), "line 1, column"),
    ])
    func placeOfAnErrorInTheTextIsNamed(text: String, place: String) {
        let faults = #expect(throws: AgentConfigurationFile.Faults.self) {
            try AgentConfigurationFile.parse(Array(text.utf8))
        }
        #expect(faults?.messages.count == 1)
        #expect(faults?.messages.first?.hasPrefix("the file is not valid JSON, \(place)") == true)
    }

    @Test func everyFaultIsNamed() {
        let text = """
            {"directories": [{"path": "runs", "includ": [], "priority": 1.5, "after_upload": "burn",
              "tags": {"a": "{what}", "b": 1}, "include": ["/"]}],
             "rates": [{"from": "8:00", "to": "24:01"}], "files": 0, "rate": "fast", "minimum_free": true}
            """
        let faults = #expect(throws: AgentConfigurationFile.Faults.self) {
            try AgentConfigurationFile.parse(Array(text.utf8))
        }
        let starts = [
            "directories[0].path must be an absolute path", "directories[0].include[0] must be a pattern",
            "directories[0].after_upload must be one of keep, delete, delete_when_full, not 'burn'",
            "directories[0].tags.a has the unknown placeholder {what}", "directories[0].tags.b must be a string",
            "directories[0].priority must be a whole number, -1000 to 1000",
            "unknown key directories[0].includ; did you mean include?", "rates[0].from must be a time of day",
            "rates[0].to must be a time of day", "rates[0].rate is missing", "rate must be a number of bytes a second",
            "minimum_free must be a number of bytes", "files must be a whole number, 1 to 16",
        ]
        for start in starts {
            #expect(faults?.messages.contains { $0.hasPrefix(start) } == true, "\(start)")
        }
        #expect(faults?.messages.count == starts.count)
    }

    @Test func superfluousSlashesAreRemoved() throws {
        let configuration = try AgentConfigurationFile.parse(Array(#"{"directories": [{"path": "//a///b//"}]}"#.utf8))
        #expect(configuration.directories.map(\.path) == ["/a/b"])
    }

    @Test(
        arguments: [
            (["/srv/data/../recordings"], "directories[0].path must not have the names . and .."),
            (["/srv/./recordings"], "directories[0].path must not have the names . and .."),
            (["/a", "/b", "/a/"], "directories[2].path must not be that of directories[0]"),
            (["/a", "/a//b"], "directories[1].path must not overlap with that of directories[0]"),
            (["/a/b", "/"], "directories[1].path must not overlap with that of directories[0]"),
        ])
    func pathsThatNameAFileTwiceAreRefused(paths: [String], message: String) {
        let directories = paths.map { #"{"path": "\#($0)"}"# }.joined(separator: ",")
        let faults = #expect(throws: AgentConfigurationFile.Faults.self) {
            try AgentConfigurationFile.parse(Array(#"{"directories": [\#(directories)]}"#.utf8))
        }
        #expect(faults?.messages.count == 1)
        #expect(faults?.messages.first?.hasPrefix(message) == true)
    }

    @Test func neighborsWithACommonBeginningAreAllowed() throws {
        let text = #"{"directories": [{"path": "/data"}, {"path": "/data2"}]}"#
        #expect(try AgentConfigurationFile.parse(Array(text.utf8)).directories.count == 2)
    }

    @Test(arguments: ["", "[]", "{", "{}", #"{"directories": []}"#, #"{"directories": [1]}"#])
    func uselessFileIsRefused(text: String) {
        #expect(throws: AgentConfigurationFile.Faults.self) { try AgentConfigurationFile.parse(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            ("00:00", 0), ("23:59", 1439), ("24:00", 1440), ("24:01", nil), ("7:00", nil), ("12:60", nil), ("", nil),
        ] as [(String, Int?)])
    func timeOfDay(text: String, minute: Int?) {
        #expect(RatePlan.minute(of: text) == minute)
    }

    @Test func windowOverMidnightHasBothEnds() {
        var plan = RatePlan()
        plan.windows = [RatePlan.Window(start: 22 * 60, end: 6 * 60, rate: 5)]
        plan.standard = 0
        #expect([21 * 60, 22 * 60, 0, 6 * 60 - 1, 6 * 60].map(plan.rate) == [0, 5, 5, 5, 0])
    }
}
