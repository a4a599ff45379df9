import Foundation
import Testing

/// The committed output of the plugin is what the plugin makes of the committed `.proto` files.
struct GeneratedSourcesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The plugin lies beside the test bundle, which is the executable that runs (or that it was given to run).
    private static func plugin() throws -> URL {
        let bundles = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
        let candidates = bundles.map {
            URL(filePath: $0).deletingLastPathComponent().appending(path: "protoc-gen-gateway")
        }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }

    private static func generatedFiles(below directory: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        for path in paths where path.hasSuffix(".pb.swift") || path.hasSuffix("ProtoFiles.swift") {
            files[path] = try String(contentsOf: directory.appending(path: path), encoding: .utf8)
        }
        return files
    }

    @Test func areWhatThePluginWrites() throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "generated-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        let generate = Process()
        generate.executableURL = Self.root.appending(path: "scripts/generate")
        generate.arguments = ["--plugin", try Self.plugin().path, "--output", output.path]
        try generate.run()
        generate.waitUntilExit()
        try #require(generate.terminationStatus == 0)

        let fresh = try Self.generatedFiles(below: output)
        #expect(fresh.count > 15)
        var committed: [String: String] = [:]
        for room in ["Sources", "Tests"] {
            for (path, text) in try Self.generatedFiles(below: Self.root.appending(path: room)) {
                committed["\(room)/\(path)"] = text
            }
        }
        #expect(fresh.keys.sorted() == committed.keys.sorted())
        for (path, text) in fresh {
            #expect(committed[path] == text, "\(path) is stale: run `make generate` and commit what it writes")
        }
    }
}
