import Foundation
import FuzzEntryPoints
import TestSupport
import Testing

/// The seeds and the earlier findings of the fuzzers satisfy all properties. (A violation traps.)
@Suite(.timeLimited) struct FuzzFindingsTests {
    private static func findings(_ target: String) throws -> [[UInt8]] {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/findings/\(target)")
        // A target without findings has no folder.
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .map { [UInt8](try Data(contentsOf: $0)) }
    }

    @Test func protobufInputsKeepTheCodecsProperties() throws {
        let inputs = try Self.findings("protobuf") + FuzzEntryPoints.Seeds.protobuf
        #expect(inputs.count > 100)
        for input in inputs { FuzzEntryPoints.protobuf(input) }
    }

    @Test func jsonInputsKeepTheCodecsProperties() throws {
        let inputs = try Self.findings("json") + FuzzEntryPoints.Seeds.json
        #expect(inputs.count > 100)
        for input in inputs { FuzzEntryPoints.json(input) }
    }

    @Test func webInputsKeepTheFramingsProperties() throws {
        let inputs = try Self.findings("web") + FuzzEntryPoints.Seeds.web
        #expect(inputs.count > 10)
        Self.change(inputs, [0, 0x25, 0x3D, 0x3B, 0xFF], FuzzEntryPoints.web)
    }

    @Test func restInputsKeepThePropertiesOfPathsAndForms() throws {
        let inputs = try Self.findings("rest") + FuzzEntryPoints.Seeds.rest
        #expect(inputs.count > 10)
        Self.change(inputs, [0, 0x0D, 0x25, 0x26, 0x2A, 0x2F, 0x3A, 0x3D, 0x7B, 0xFF], FuzzEntryPoints.rest)
    }

    @Test func xmlInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("xml") + FuzzEntryPoints.Seeds.xml
        #expect(inputs.count > 10)
        Self.change(inputs, [0, 0x20, 0x22, 0x26, 0x2D, 0x2F, 0x3A, 0x3C, 0x3E, 0xFF], FuzzEntryPoints.xml)
    }

    @Test func foundFiltersAreParsed() throws {
        let inputs = try Self.findings("filter") + FuzzEntryPoints.Seeds.filter
        Self.change(inputs, [0x20, 0x22, 0x28, 0x29, 0x2A, 0x3A, 0x3C, 0x3D, 0x5C, 0xFF], FuzzEntryPoints.filter)
    }

    @Test func zipInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("zip") + FuzzEntryPoints.Seeds.zip
        Self.change(inputs, [0, 1, 0x2F, 0x7F, 0x80, 0xFF], FuzzEntryPoints.zip)
    }

    @Test func identityInputsKeepTheVerifiersProperties() throws {
        let inputs = try Self.findings("identity") + FuzzEntryPoints.Seeds.identity
        Self.change(inputs, [0x22, 0x2E, 0x41, 0x7A], FuzzEntryPoints.identity)
    }

    @Test func mcapInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("mcap") + FuzzEntryPoints.Seeds.mcap
        Self.change(inputs, [0, 1, 4, 8, 0x0B, 0x7F, 0x80, 0xFF], FuzzEntryPoints.mcap)
    }

    @Test func pictureInputsKeepThePropertiesOfMetadata() throws {
        let inputs = try Self.findings("picture") + FuzzEntryPoints.Seeds.picture
        Self.change(inputs, [0, 1, 2, 8, 0x7F, 0x80, 0xC0, 0xD9, 0xDA, 0xE1, 0xFF], FuzzEntryPoints.picture)
    }

    @Test func formInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("form") + FuzzEntryPoints.Seeds.form
        Self.change(inputs, [0x0D, 0x20, 0x22, 0x2D, 0x3B, 0x78, 0xFF], FuzzEntryPoints.form)
    }

    @Test func policyInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("policy") + FuzzEntryPoints.Seeds.policy
        Self.change(inputs, [0x22, 0x2C, 0x2F, 0x30, 0x5C, 0x5D, 0x7B, 0xFF], FuzzEntryPoints.policy)
    }

    @Test func chunkInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("chunks") + FuzzEntryPoints.Seeds.chunks
        Self.change(inputs, [0, 0x0A, 0x0D, 0x30, 0x3A, 0x3B, 0xFF], FuzzEntryPoints.chunks)
    }

    @Test func signatureInputsKeepTheVerifiersProperties() throws {
        let inputs = try Self.findings("signature") + FuzzEntryPoints.Seeds.signature
        Self.change(inputs, [0x2C, 0x2F, 0x61], FuzzEntryPoints.signature)
    }

    @Test func requestInputsKeepThePropertiesOfTargets() throws {
        let inputs = try Self.findings("request") + FuzzEntryPoints.Seeds.request
        Self.change(inputs, [0x0A, 0x20, 0x25, 0x26, 0x2F, 0x3A, 0x3D, 0x3F, 0xFF], FuzzEntryPoints.request)
    }

    @Test func csvInputsKeepTheReadersProperties() throws {
        let inputs = try Self.findings("csv") + FuzzEntryPoints.Seeds.csv
        Self.change(inputs, [0x0A, 0x0D, 0x22, 0x27, 0x2C, 0x3D, 0xFF], FuzzEntryPoints.csv)
    }

    /// Checks each input, and then each input with every byte changed in turn, like a small fuzzer.
    private static func change(_ inputs: [[UInt8]], _ bytes: [UInt8], _ check: ([UInt8]) -> Void) {
        for input in inputs {
            check(input)
            for index in input.indices {
                for byte in bytes {
                    var changed = input
                    changed[index] = byte
                    check(changed)
                }
            }
        }
    }
}
