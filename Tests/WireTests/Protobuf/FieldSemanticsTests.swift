import TestSupport
import Testing
import Wire
import WireTesting

@testable import Protobuf

/// The rules of protobuf for presence, merging, repetition and unknown fields.
@Suite(.timeLimited) struct FieldSemanticsTests {
    @Test func encodedMessagesDecodeToThemselves() throws {
        #expect(try Scalars(decoding: Sample.scalars.encoded()) == Sample.scalars)
        #expect(try Repeateds(decoding: Sample.repeateds.encoded()) == Sample.repeateds)
        #expect(try Maps(decoding: Sample.maps.encoded()) == Sample.maps)
    }

    @Test func optionalFieldsKeepTheirPresence() throws {
        #expect(Optionals(int32Value: 0, stringValue: "").encoded() == [0x18, 0x00, 0x72, 0x00])
        #expect(try Optionals(decoding: [0x18, 0x00]).int32Value == 0)
        #expect(try Optionals(decoding: []).int32Value == nil)
        #expect(try Optionals(decoding: [0x8A, 0x01, 0x00]).scalars == Scalars())
        #expect(Optionals(scalars: Scalars()).encoded() == [0x8A, 0x01, 0x00])
    }

    @Test func lastValueOfAFieldWins() throws {
        #expect(try Scalars(decoding: [0x18, 1, 0x72, 1, 0x61, 0x18, 2, 0x72, 1, 0x62]).int32Value == 2)
        #expect(try Scalars(decoding: [0x72, 1, 0x61, 0x72, 0]).stringValue.isEmpty)
        #expect(try Maps(decoding: [0x12, 4, 8, 1, 16, 1, 0x12, 4, 8, 1, 16, 2]).colours == [1: .green])
    }

    @Test func repeatedMessageFieldsMerge() throws {
        let first = Optionals(scalars: Scalars(int32Value: 1, stringValue: "a")).encoded()
        let second = Optionals(scalars: Scalars(int64Value: 2, stringValue: "b")).encoded()
        let merged = Scalars(int32Value: 1, int64Value: 2, stringValue: "b")
        #expect(try Optionals(decoding: first + second).scalars == merged)

        let choice = Choices(choice: .scalars(Scalars(int32Value: 1, stringValue: "a"))).encoded()
        let again = Choices(choice: .scalars(Scalars(int64Value: 2, stringValue: "b"))).encoded()
        #expect(try Choices(decoding: choice + again).choice == .scalars(merged))

        let tree = try Tree(
            decoding: Tree(left: Tree(label: "x")).encoded() + Tree(left: Tree(right: Tree())).encoded())
        #expect(tree.left == Tree(label: "x", right: Tree()))

        var target = Repeateds(int32Value: [1])
        try target.merge(decoding: Repeateds(int32Value: [2], stringValue: ["s"]).encoded())
        #expect(target == Repeateds(int32Value: [1, 2], stringValue: ["s"]))
    }

    @Test func lastCaseOfAOneofWins() throws {
        #expect(try Choices(decoding: [0x12, 1, 0x61, 0x18, 7]).choice == .number(7))
        #expect(try Choices(decoding: [0x18, 7, 0x12, 0]).choice == .text(""))
        #expect(Choices(choice: .number(0)).encoded() == [0x18, 0])
        #expect(try Choices(decoding: [0x2A, 0]).choice == .scalars(Scalars()))
        // Another field of the oneof in between discards the message.
        let bytes = Choices(choice: .scalars(Scalars(int32Value: 1))).encoded() + [0x18, 7, 0x2A, 0]
        #expect(try Choices(decoding: bytes).choice == .scalars(Scalars()))
        #expect(Choices(before: 1, choice: .colour(.red), between: 2).encoded() == [0x08, 1, 0x38, 1, 0x20, 2])
    }

    @Test func packedAndUnpackedFieldsAreRead() throws {
        #expect(Repeateds(int32Value: [1, 300]).encoded() == [0x1A, 3, 1, 0xAC, 2])
        #expect(Repeateds(unpacked: [1, 300]).encoded() == [0x90, 1, 1, 0x90, 1, 0xAC, 2])
        #expect(try Repeateds(decoding: [0x18, 1, 0x1A, 2, 2, 3, 0x18, 4]).int32Value == [1, 2, 3, 4])
        #expect(try Repeateds(decoding: [0x92, 1, 2, 2, 3, 0x90, 1, 4]).unpacked == [2, 3, 4])
        #expect(try Repeateds(decoding: [0x4A, 4, 1, 0, 0, 0, 0x4D, 2, 0, 0, 0]).fixed32Value == [1, 2])
        #expect(try Repeateds(decoding: [0x4D, 2, 0, 0, 0, 0x4A, 4, 1, 0, 0, 0]).fixed32Value == [2, 1])
        #expect(try Repeateds(decoding: [0x1A, 0]).int32Value.isEmpty)
        // Unaligned values: a tag and a length precede the eight bytes.
        #expect(try Repeateds(decoding: [0x68, 1, 0x0A, 8, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]).doubleValue == [1])
    }

    @Test func mapEntriesTakeDefaultsAndAreWrittenInOrder() throws {
        #expect(Maps(texts: ["a": "b"]).encoded() == [0x0A, 6, 0x0A, 1, 0x61, 0x12, 1, 0x62])
        #expect(Maps(colours: [0: .unspecified]).encoded() == [0x12, 4, 8, 0, 16, 0])
        #expect(try Maps(decoding: [0x0A, 0]).texts == ["": ""])
        #expect(try Maps(decoding: [0x0A, 3, 0x12, 1, 0x62]).texts == ["": "b"])
        #expect(try Maps(decoding: [0x0A, 6, 0x12, 1, 0x62, 0x0A, 1, 0x61]).texts == ["a": "b"])
        #expect(try Maps(decoding: [0x0A, 8, 0x0A, 1, 0x61, 0x18, 5, 0x12, 1, 0x62]).texts == ["a": "b"])
        let many = Maps(colours: Dictionary(uniqueKeysWithValues: (-50..<50).map { (Int32($0), .red) }))
        let ordered = (-50..<50).flatMap { Maps(colours: [Int32($0): .red]).encoded() }
        #expect(many.encoded(canonical: true) == ordered)
        #expect(Maps(blobs: [true: [], false: []]).encoded(canonical: true)[2...3] == [8, 0])
        #expect(Maps(texts: ["b": "", "é": "", "z": ""]).encoded(canonical: true)[4] == 0x62)
    }

    @Test func unknownFieldsKeepTheirOrder() throws {
        let unknown: [UInt8] = [0xA0, 0x06, 1, 0x9A, 0x06, 2, 1, 2, 0xA0, 0x06, 3, 0xA5, 0x06, 1, 2, 3, 4]
        let message = try Scalars(decoding: unknown[0..<3] + [0x68, 1] + unknown[3...])
        #expect(message.unknownFields.count == unknown.count)
        #expect(message.encoded() == [0x68, 1] + unknown)
        #expect(message != Scalars(boolValue: true))
        var merged = message
        try merged.merge(decoding: unknown)
        #expect(merged.encoded() == [0x68, 1] + unknown + unknown)
    }

    @Test func recursiveMessagesAreReadAndWritten() throws {
        var tree = Tree(label: "root")
        for depth in 0..<60 { tree = Tree(label: "\(depth)", left: tree, right: Tree(label: "r")) }
        tree.branch = Tree.Branch(tree: Tree(label: "twig"), type: .dead)
        let copy = try Tree(decoding: tree.encoded())
        #expect(copy == tree)
        var changed = copy
        changed.left?.left?.label = "other"
        #expect(changed != copy && copy == tree)
        let choices = Choices(choice: .again(Choices(choice: .again(Choices(before: 3)))))
        #expect(try Choices(decoding: choices.encoded()) == choices)
    }

    @Test func reservedNamesAreUsable() throws {
        let names = Names(size: 1, default: 2, self_: 3, encodedSize_: 4, fileIDs: 5, largestFieldNumber: 6)
        #expect(try Names(decoding: names.encoded()) == names)
        #expect(names.encoded().suffix(6) == [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 6])
        #expect(Colour.verdant == .green)
        #expect(Colour(rawValue: -1) == .infrared && Colour(rawValue: 5) == .unrecognized(5))
        #expect(Tree.Branch.fullName == "gateway.test.Tree.Branch")
    }
}
