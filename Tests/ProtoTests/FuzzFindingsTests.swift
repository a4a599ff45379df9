import Foundation
import FuzzEntryPoints
import TestSupport
import Testing

/// The seeds and the earlier findings of the fuzzers satisfy all properties. (A violation traps.)
@Suite(.timeLimited) struct FuzzFindingsTests {
    /// The earlier findings of a fuzzer, and its seeds. (A fuzzer that found nothing has no folder.)
    private static func inputs(_ target: String, _ seeds: [[UInt8]], atLeast count: Int) throws -> [[UInt8]] {
        let findings = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/findings")
        let targets = try FileManager.default.contentsOfDirectory(atPath: findings.path)
        try #require(!targets.isEmpty)
        var found: [[UInt8]] = []
        if targets.contains(target) {
            found = try FileManager.default.contentsOfDirectory(
                at: findings.appending(path: target), includingPropertiesForKeys: nil
            ).map { [UInt8](try Data(contentsOf: $0)) }
            try #require(!found.isEmpty)
        }
        try #require(seeds.count >= count)
        return found + seeds
    }

    @Test func protobufInputsKeepTheCodecsProperties() throws {
        let inputs = try Self.inputs("protobuf", FuzzEntryPoints.Seeds.protobuf, atLeast: 100)
        for input in inputs { FuzzEntryPoints.protobuf(input) }
    }

    @Test func jsonInputsKeepTheCodecsProperties() throws {
        let inputs = try Self.inputs("json", FuzzEntryPoints.Seeds.json, atLeast: 100)
        for input in inputs { FuzzEntryPoints.json(input) }
    }

    @Test func webInputsKeepTheFramingsProperties() throws {
        let inputs = try Self.inputs("web", FuzzEntryPoints.Seeds.web, atLeast: 10)
        Self.change(inputs, [0, 0x25, 0x3D, 0x3B, 0xFF], FuzzEntryPoints.web)
    }

    @Test func restInputsKeepThePropertiesOfPathsAndForms() throws {
        let inputs = try Self.inputs("rest", FuzzEntryPoints.Seeds.rest, atLeast: 10)
        Self.change(inputs, [0, 0x0D, 0x25, 0x26, 0x2A, 0x2F, 0x3A, 0x3D, 0x7B, 0xFF], FuzzEntryPoints.rest)
    }

    @Test func xmlInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("xml", FuzzEntryPoints.Seeds.xml, atLeast: 15)
        Self.change(inputs, [0, 0x20, 0x22, 0x26, 0x2D, 0x2F, 0x3A, 0x3C, 0x3E, 0xFF], FuzzEntryPoints.xml)
    }

    @Test func timeZonesKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("zone", FuzzEntryPoints.Seeds.zone, atLeast: 15)
        Self.change(inputs, [0, 1, 0x2C, 0x2F, 0x3A, 0x7F, 0x80, 0xFF], FuzzEntryPoints.zone)
    }

    @Test func foundFiltersAreParsed() throws {
        let inputs = try Self.inputs("filter", FuzzEntryPoints.Seeds.filter, atLeast: 20)
        Self.change(inputs, [0x20, 0x22, 0x28, 0x29, 0x2A, 0x3A, 0x3C, 0x3D, 0x5C, 0xFF], FuzzEntryPoints.filter)
    }

    @Test func zipInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("zip", FuzzEntryPoints.Seeds.zip, atLeast: 3)
        Self.change(inputs, [0, 1, 0x2F, 0x7F, 0x80, 0xFF], FuzzEntryPoints.zip)
    }

    @Test func identityInputsKeepTheVerifiersProperties() throws {
        let inputs = try Self.inputs("identity", FuzzEntryPoints.Seeds.identity, atLeast: 10)
        Self.change(inputs, [0x22, 0x2E, 0x41, 0x7A], FuzzEntryPoints.identity)
    }

    @Test func mcapInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("mcap", FuzzEntryPoints.Seeds.mcap, atLeast: 10)
        Self.change(inputs, [0, 1, 4, 8, 0x0B, 0x7F, 0x80, 0xFF], FuzzEntryPoints.mcap)
    }

    @Test func pictureInputsKeepThePropertiesOfMetadata() throws {
        let inputs = try Self.inputs("picture", FuzzEntryPoints.Seeds.picture, atLeast: 5)
        Self.change(inputs, [0, 1, 2, 8, 0x7F, 0x80, 0xC0, 0xD9, 0xDA, 0xE1, 0xFF], FuzzEntryPoints.picture)
    }

    @Test func formInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("form", FuzzEntryPoints.Seeds.form, atLeast: 15)
        Self.change(inputs, [0x0D, 0x20, 0x22, 0x2D, 0x3B, 0x78, 0xFF], FuzzEntryPoints.form)
    }

    @Test func policyInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("policy", FuzzEntryPoints.Seeds.policy, atLeast: 15)
        Self.change(inputs, [0x22, 0x2C, 0x2F, 0x30, 0x5C, 0x5D, 0x7B, 0xFF], FuzzEntryPoints.policy)
    }

    @Test func chunkInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("chunks", FuzzEntryPoints.Seeds.chunks, atLeast: 10)
        Self.change(inputs, [0, 0x0A, 0x0D, 0x30, 0x3A, 0x3B, 0xFF], FuzzEntryPoints.chunks)
    }

    @Test func signatureInputsKeepTheVerifiersProperties() throws {
        let inputs = try Self.inputs("signature", FuzzEntryPoints.Seeds.signature, atLeast: 10)
        Self.change(inputs, [0x2C, 0x2F, 0x61], FuzzEntryPoints.signature)
    }

    @Test func requestInputsKeepThePropertiesOfTargets() throws {
        let inputs = try Self.inputs("request", FuzzEntryPoints.Seeds.request, atLeast: 20)
        Self.change(inputs, [0x0A, 0x20, 0x25, 0x26, 0x2F, 0x3A, 0x3D, 0x3F, 0xFF], FuzzEntryPoints.request)
    }

    @Test func csvInputsKeepTheReadersProperties() throws {
        let inputs = try Self.inputs("csv", FuzzEntryPoints.Seeds.csv, atLeast: 9)
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
