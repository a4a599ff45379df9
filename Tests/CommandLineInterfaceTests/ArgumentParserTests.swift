import HTTPTypes
import RPC
import TestSupport
import Testing

@testable import CommandLineInterface

/// A command with a parameter of each kind.
private struct Sample: Command {
    enum State: String, ArgumentChoice {
        case registered
        case initialized
        case disabled
    }

    static let name = "sample"
    static let summary = "Try the parser"

    static var parameters: [Parameter<Self>] {
        [
            .argument("FIRST", \.first, "Needed"),
            .argument("SECOND", \.second, "Not needed", isRequired: false),
            .option("--count", "N", \.count, "Needed as well", isRequired: true),
            .option("--address", "HOST:PORT", \.address, "An address"),
            .option("--state", "STATE", \.state, "A choice"),
            .option("--note", "TEXT", \.note, "A text, which may be empty").allowingEmpty(),
            .repeated("--tag", "KEY=VALUE", \.tags, "Tags"),
            .flag("--loud", \.isLoud, "A flag").formerly("--noisy"),
        ]
    }

    var first = ""
    var second = "none"
    var count: Int64 = 0
    var address: PeerAddress?
    var state: State?
    var tags: [TagArgument] = []
    var note = "none"
    var isLoud = false

    func run(in environment: CommandEnvironment) async -> ExitCode { .success }
}

@Suite(.timeLimited) struct ArgumentParserTests {
    private func parse(_ line: String) throws -> Sample {
        var sample = Sample()
        let words = line.split(separator: " ").map(String.init)
        try ArgumentParser.parse(words, into: &sample, parameters: Sample.parameters, path: ["sample"])
        return sample
    }

    @Test func everyKindOfParameterIsParsed() throws {
        let sample = try parse(
            "one --count 3 two --address [::1]:80 --state=disabled --tag a=1 --tag b= --tag=c=d=e --loud")
        #expect(sample.first == "one")
        #expect(sample.second == "two")
        #expect(sample.count == 3)
        #expect(sample.address == PeerAddress(host: "::1", port: 80))
        #expect(sample.state == .disabled)
        #expect(sample.tags.map(\.key) == ["a", "b", "c"])
        #expect(sample.tags.map(\.value) == ["1", "", "d=e"])
        #expect(sample.isLoud)
    }

    @Test(arguments: [
        (["", "--count", "3"], "FIRST"), (["--count", "3", "--", ""], "FIRST"),
        (["one", "", "--count", "3"], "SECOND"),
        (["one", "--count", ""], "--count"), (["one", "--count", "3", "--tag", ""], "--tag"),
        (["one", "--count", "3", "--state="], "--state"),
    ])
    func valuesAreNotEmptyUnlessTheParameterAllowsIt(words: [String], name: String) {
        var sample = Sample()
        #expect(throws: UsageError("\(name) must not be empty", path: ["sample"])) {
            try ArgumentParser.parse(words, into: &sample, parameters: Sample.parameters, path: ["sample"])
        }
    }

    @Test(arguments: [["one", "--count", "3", "--note", ""], ["one", "--count", "3", "--note="]])
    func emptyValueIsAcceptedWhereItIsAllowed(words: [String]) throws {
        var sample = Sample()
        try ArgumentParser.parse(words, into: &sample, parameters: Sample.parameters, path: ["sample"])
        #expect(sample.note.isEmpty)
    }

    @Test func negativeNumbersAreArguments() throws {
        #expect(try parse("-5 --count 3").first == "-5")
        #expect(throws: UsageError.self) { try parse("-x --count 3") }
    }

    @Test func missingOptionsKeepTheirDefaults() throws {
        let sample = try parse("one --count -3")
        #expect(sample.second == "none")
        #expect(sample.count == -3)
        #expect(sample.address == nil)
        #expect(!sample.isLoud)
    }

    @Test func formerNamesAreAcceptedAndNotShown() throws {
        #expect(try parse("one --count 3 --noisy").isLoud)
        #expect(throws: UsageError("--noisy is given twice", path: ["sample"])) {
            try parse("one --count 3 --loud --noisy")
        }
        #expect(!HelpText.of(Sample.self, path: ["sample"]).contains("--noisy"))
    }

    @Test func optionsEndAtTwoHyphens() throws {
        let sample = try parse("--count 3 -- --one -")
        #expect(sample.first == "--one")
        #expect(sample.second == "-")
    }

    @Test func aValueThatLooksLikeAnOptionIsAttached() throws {
        #expect(try parse("one --count=3 --tag=--k=v").tags.map(\.key) == ["--k"])
    }

    @Test(arguments: [
        ("", "sample requires FIRST and --count N"),
        ("one", "sample requires --count N"),
        ("--count 3", "sample requires FIRST"),
        ("one two three --count 3", "sample does not accept the argument 'three'"),
        ("one --count", "--count requires a value: --count N"),
        ("one --count --loud", "--count requires a value: --count N"),
        ("one --count=", "--count must not be empty"),
        ("one --count 3x", "--count must be a whole number, not '3x'"),
        ("one --count 9223372036854775808", "--count must be a whole number, not '9223372036854775808'"),
        ("one --count 3 --count 4", "--count is given twice"),
        ("one --count 3 --loud --loud", "--loud is given twice"),
        ("one --count 3 --loud=yes", "--loud does not accept a value"),
        ("one --count 3 --address host", "--address must be HOST:PORT (IPv6: [HOST]:PORT), not 'host'"),
        ("one --count 3 --address h:65536", "--address must be HOST:PORT (IPv6: [HOST]:PORT), not 'h:65536'"),
        ("one --count 3 --state off", "--state must be one of registered, initialized, disabled, not 'off'"),
        ("one --count 3 --tag key", "--tag must be KEY=VALUE, not 'key'"),
        ("one --count 3 --tag =value", "--tag must be KEY=VALUE, not '=value'"),
        ("one --cuont 3", "sample has no option --cuont; did you mean --count?"),
        ("one --Loud", "sample has no option --Loud; did you mean --loud?"),
        ("one --quite-another", "sample has no option --quite-another"),
        ("one -x", "sample has no option -x"),
    ])
    func usageErrorNamesTheArgument(line: String, message: String) {
        #expect(throws: UsageError(message, path: ["sample"])) { try parse(line) }
    }

    @Test func theErrorSaysWhereToRead() {
        #expect("\(UsageError("no", path: ["device", "list"]))" == "no\nTry: data-gateway device list --help")
    }
}
