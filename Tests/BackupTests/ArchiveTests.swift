import ObjectStore
import TestSupport
import Testing

@testable import Backup

/// An archive's bytes in memory.
final class MemorySource: ArchiveSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func read(_ count: Int) throws -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

final class MemorySink: ArchiveSink {
    private(set) var bytes: [UInt8] = []

    func write(_ new: UnsafeRawBufferPointer) throws {
        bytes += new
    }
}

/// The format of archives: written contents are read back, and altered archives are refused.
@Suite(.timeLimited) struct ArchiveTests {
    private struct Read: Equatable {
        let record: ArchiveRecord
        let bytes: [UInt8]
    }

    private static let records: [(ArchiveRecord.Kind, String, [UInt8])] = [
        (.manifest, "", Array("{}".utf8)), (.database, "", Array(repeating: 7, count: 500)), (.key, "root", [1, 2, 3]),
        (.list, "", []), (.object, "an object", Array(repeating: 9, count: 40)),
    ]

    private static func archive() throws -> [UInt8] {
        let sink = MemorySink()
        let writer = try ArchiveWriter(sink)
        for (kind, name, bytes) in records { try writer.write(kind, name: name, bytes) }
        try writer.finish()
        return sink.bytes
    }

    private static func read(_ source: any ArchiveSource) throws -> [Read] {
        let reader = try ArchiveReader(source)
        var all: [Read] = []
        while let record = try reader.next() {
            var bytes: [UInt8] = []
            try reader.forEachPiece { bytes += $0 }
            all.append(Read(record: record, bytes: bytes))
        }
        return all
    }

    @Test func recordsAreReadAsTheyWereWritten() throws {
        let read = try Self.read(MemorySource(try Self.archive()))
        #expect(
            read
                == Self.records.map { kind, name, bytes in
                    Read(record: ArchiveRecord(kind: kind, name: name, length: Int64(bytes.count)), bytes: bytes)
                })
    }

    @Test func recordsThatAreNotReadArePassedOver() throws {
        let reader = try ArchiveReader(MemorySource(try Self.archive()))
        var kinds: [ArchiveRecord.Kind] = []
        while let record = try reader.next() { kinds.append(record.kind) }
        #expect(kinds == Self.records.map(\.0))
    }

    @Test func cutOffAnywhereItIsNoArchive() throws {
        let archive = try Self.archive()
        for count in 0..<archive.count {
            #expect(throws: ArchiveError.self) { try Self.read(MemorySource(Array(archive.prefix(count)))) }
        }
    }

    @Test func noByteCanBeChanged() throws {
        let archive = try Self.archive()
        for index in archive.indices {
            var changed = archive
            changed[index] ^= 1 << (index % 8)
            #expect(throws: ArchiveError.self, "byte \(index)") { try Self.read(MemorySource(changed)) }
        }
    }

    /// From a fixed seed: nothing traps, and only the unaltered archive is accepted.
    @Test(arguments: 1...20)
    func randomlyChangedArchiveIsRefused(seed: UInt64) throws {
        let archive = try Self.archive()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes = archive
            for _ in 0...Int.random(in: 0...4, using: &generator) {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                case 1:
                    let count = Int.random(in: 0...30, using: &generator)
                    bytes.removeSubrange(place..<min(bytes.count, place + count))
                case 2 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                default: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
                }
            }
            let read = try? Self.read(MemorySource(bytes))
            #expect((read != nil) == (bytes == archive))
        }
    }

    @Test func aLengthThatLiesCostsNoMemory() throws {
        let head = ArchiveRecord(kind: .manifest, name: "", length: .max).encoded
        let reader = try ArchiveReader(MemorySource(ArchiveRecord.magic + head + [1, 2, 3]))
        #expect(try reader.next()?.length == .max)
        #expect(throws: ArchiveError.altered("a record exceeds its maximum length")) { try reader.bytes(limit: 4096) }
        #expect(throws: ArchiveError.truncated) { try reader.next() }
    }

    @Test func listEntryHoldsItsFileAndMalformedOnesAreRefused() throws {
        let file = StoredFile(fileID: "00112233445566778899aabbccddeeff", size: 1 << 40, crc64: .max)
        let entry = try #require(file.listEntry)
        #expect(entry.count == StoredFile.entryCount)
        #expect(StoredFile(listEntry: entry) == file)
        #expect(StoredFile(listEntry: Array(entry[..<16]) + Array(repeating: 0xFF, count: 16)) == nil)
        #expect(StoredFile(fileID: "short", size: 1, crc64: 0).listEntry == nil)
    }

    @Test func aManifestWithNumbersThatCannotBeIsNone() throws {
        let manifest = Manifest(
            format: "1\n", storeID: "id", generation: 4, createdAt: "2026-11-21T17:00:00Z", objects: 3, hasObjects: true
        )
        #expect(Manifest(try manifest.encoded) == manifest)
        let text = String(decoding: try manifest.encoded, as: UTF8.self)
        #expect(Manifest(Array(text.replacing("\"objects\":3", with: "\"objects\":9223372036854775807").utf8)) == nil)
        #expect(Manifest(Array(text.replacing("\"objects\":3", with: "\"objects\":-1").utf8)) == nil)
    }
}
