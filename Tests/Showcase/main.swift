import Basics
import Foundation

// showcase --data-dir DIR [--objects N] [--machines N] [--days N] [--seed N] [--until UNIX_SECONDS] [--video FILE] fills a new data
// directory with the uploads of four organizations, and prints a JSON object that describes them. Their time ends now, or at the given
// second. All users have the same password, which is in the object.

struct Arguments {
    private let values: [String: String]

    init(_ arguments: [String]) {
        var values: [String: String] = [:]
        for (name, value) in zip(arguments, arguments.dropFirst()) where name.hasPrefix("--") { values[name] = value }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    func number(_ name: String, default value: Int) -> Int { values[name].flatMap { Int($0) } ?? value }
}

let arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
guard let directory = arguments["--data-dir"] else {
    FileHandle.standardError.write(Data("showcase: --data-dir is required\n".utf8))
    exit(2)
}
let end = UnixTime(seconds: Int64(arguments.number("--until", default: Int(SystemClock().now().seconds))))
let days = arguments.number("--days", default: 30)
let plan = Plan(
    machines: arguments.number("--machines", default: 120), objects: arguments.number("--objects", default: 20_000),
    days: days, end: end, seed: UInt64(arguments.number("--seed", default: 1)))
let video = arguments["--video"].flatMap { FileManager.default.contents(atPath: $0) }
let gateway = try await ShowcaseGateway(dataDirectory: directory, start: end.subtracting(.days(Int64(days + 1))))
let filling = Filling(gateway, plan, video: Array(video ?? Data("no video was given".utf8)))
let report = try await gateway.readingRecordings { try filling.run() }
gateway.close()
print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
