import Foundation
import Testing
import WireTesting

/// What the fuzzers begin with, and what they once found, breaks nothing any more. (A broken property traps.)
struct FuzzFindingsTests {
    private static func findings(_ target: String) throws -> [[UInt8]] {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/findings/\(target)")
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .map { [UInt8](try Data(contentsOf: $0)) }
    }

    @Test func protobuf() throws {
        let inputs = try Self.findings("protobuf") + CodecProperties.seeds().protobuf
        #expect(inputs.count > 100)
        for input in inputs { CodecProperties.checkProtobuf(input) }
    }

    @Test func json() throws {
        let inputs = try Self.findings("json") + CodecProperties.seeds().json
        #expect(inputs.count > 100)
        for input in inputs { CodecProperties.checkJSON(input) }
    }

    @Test func web() throws {
        // Each with every byte changed in turn: a small form of what the fuzzer does.
        for input in try Self.findings("web") + WebProperties.seeds {
            WebProperties.check(input)
            for index in input.indices {
                for byte in [0, 0x25, 0x3D, 0x3B, 0xFF] as [UInt8] {
                    var changed = input
                    changed[index] = byte
                    WebProperties.check(changed)
                }
            }
        }
    }
}
