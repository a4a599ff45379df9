import Proto
import TestSupport
import Testing
import Wire
import WireTesting

/// Every message of the contract is unchanged after encoding and decoding, in protobuf and in JSON.
@Suite(.timeLimited) struct RoundTripTests {
    private static let seeds: Range<UInt64> = 0..<20
    private static let schema = Result { try Schema(ProtoFiles.all) }

    private func canonical<M: Message>(_ type: M.Type, _ bytes: [UInt8]) throws -> [UInt8] {
        try M(decoding: bytes).encoded(canonical: true)
    }

    @Test(arguments: ProtoFiles.messages.indices)
    func everyMessageIsReadAsItWasWritten(_ index: Int) throws {
        let type = ProtoFiles.messages[index]
        let schema = try Self.schema.get()
        for seed in Self.seeds {
            var random = RandomFields(seed: seed &* 1000 &+ UInt64(index), schema: schema)
            let once = try canonical(type, random.message(type.fullName))
            #expect(try canonical(type, once) == once, "\(type) with seed \(seed)")
        }
    }

    /// JSON drops unknown fields, so the result of the first conversion is compared with that of a second one.
    @Test(arguments: ProtoFiles.messages.indices)
    func everyMessageThroughJSON(_ index: Int) throws {
        let type = ProtoFiles.messages[index]
        // Their random values mostly exceed what JSON can express; they have tests of their own.
        if type.fullName.hasPrefix("google.protobuf.") { return }
        let schema = try Self.schema.get()
        let mapping = JSONMapping(schema: schema)
        var compared = 0
        for seed in Self.seeds {
            var random = RandomFields(seed: seed &* 1000 &+ UInt64(index), schema: schema)
            let bytes = try canonical(type, random.message(type.fullName))
            guard let json = try? mapping.text(encoded: bytes, of: type.fullName) else { continue }
            let again = try canonical(type, mapping.encode(json, as: type.fullName))
            #expect(try mapping.text(encoded: again, of: type.fullName) == json, "\(type) with seed \(seed)")
            compared += 1
        }
        #expect(compared > 0)
    }

    @Test(arguments: ProtoFiles.messages.indices)
    func anyBytesAreRefusedOrRead(_ index: Int) throws {
        let type = ProtoFiles.messages[index]
        var random = RandomFields(seed: UInt64(index), schema: try Self.schema.get())
        for _ in 0..<200 {
            let bytes = random.bytes(random.below(60))
            guard let once = try? canonical(type, bytes) else { continue }
            #expect(try canonical(type, once) == once)
        }
    }

    @Test func everyMessageIsInTheSchema() throws {
        let schema = try Self.schema.get()
        #expect(ProtoFiles.messages.count > 150)
        for type in ProtoFiles.messages { #expect(schema.messages[type.fullName] != nil, "\(type.fullName)") }
    }
}
