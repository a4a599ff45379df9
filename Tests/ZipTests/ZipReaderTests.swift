import Basics
import TestSupport
import Testing

@testable import Zip

@Suite(.timeLimited) struct ZipReaderTests {
    private static let good = archiveOfTwo()

    private static func archiveOfTwo() -> [UInt8] {
        let archive = try? ZipScene.archive([
            ZipScene.File(name: "a.txt", bytes: Array("stored".utf8)),
            ZipScene.File(name: "d/b.txt", bytes: [UInt8](repeating: 7, count: 500), method: .deflated),
        ])
        return archive ?? []
    }

    /// `good` with the bytes at an offset from a record replaced.
    private static func patched(
        _ signature: UInt32, number: Int = 0, at offset: Int, _ bytes: [UInt8]
    ) -> [UInt8] {
        var archive = good
        let starts = archive.indices.dropLast(3).filter {
            archive[$0..<$0 + 4].elementsEqual([0x50, 0x4B, UInt8(signature >> 16 & 0xFF), UInt8(signature >> 24)])
        }
        archive.replaceSubrange(starts[number] + offset..<starts[number] + offset + bytes.count, with: bytes)
        return archive
    }

    @Test(arguments: [
        "zipfile.ZipFile(path, 'w').writestr('a', b'text')",
        "zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED).writestr('a', b'text')",
        "archive = zipfile.ZipFile(path, 'w')\nwith archive.open('a', 'w', force_zip64=True) as file: file.write(b'text')\narchive.close()",
        """
        import io
        class Stream(io.RawIOBase):
            def __init__(self): self.file = open(path, 'wb')
            def writable(self): return True
            def write(self, data): return self.file.write(bytes(data))
            def flush(self): self.file.flush()
        archive = zipfile.ZipFile(Stream(), 'w', zipfile.ZIP_DEFLATED)
        archive.writestr('a', b'text')
        archive.writestr('directory/', b'')
        archive.comment = b'a comment'
        archive.close()
        """,
    ])
    func readsWhatPythonWrote(program: String) throws {
        #expect(try ZipScene.contents(of: ZipScene.python(program).archive) == ["a": Array("text".utf8)])
    }

    @Test func readsAnArchiveWithoutEntries() throws {
        #expect(try ZipScene.contents(of: ZipScene.archive([])) == [:])
    }

    @Test func refusesAnArchiveThatIsCutAnywhere() throws {
        for count in 0..<Self.good.count {
            #expect(try ZipScene.failure(of: Array(Self.good.prefix(count))) != nil, "\(count) bytes")
        }
        #expect(try ZipScene.failure(of: Self.good) == nil)
    }

    @Test func refusesBytesBeforeAndBehindTheArchive() throws {
        #expect(try ZipScene.failure(of: [0] + Self.good) != nil)
        #expect(try ZipScene.failure(of: Self.good + [0]) == .noEndRecord)
    }

    @Test func refusesContentsThatDoNotMatchTheirChecksum() throws {
        #expect(
            try ZipScene.failure(of: Self.patched(ZipFormat.localHeader, at: 30 + 5 + 9, [0]))
                == .corrupted(name: "a.txt"))
    }

    @Test(
        arguments: [
            // Flags of the first record of the directory: encrypted, patched, strongly encrypted, masked.
            (8, [UInt8(1), 8], ZipError.unsupported("encryption")),
            (8, [0x20, 8], .unsupported("patched data")),
            (8, [0x40, 8], .unsupported("encryption")),
            (8, [0, 0x28], .unsupported("encryption")),
            // Method: LZMA.
            (10, [14, 0], .unsupported("compression method 14")),
            // Compressed size: too large, and other than the size of a stored entry.
            (20, [0xFF, 0xFF, 0xFF, 0x7F], .malformed("a stored entry has two sizes")),
            // Disk.
            (34, [1, 0], .unsupported("an archive in several files")),
            // Offset of the local header.
            (42, [1, 0, 0, 0], .malformed("a local header is missing")),
            // Name.
            (46, Array("../x1".utf8), .invalidName("../x1")),
            (46, Array("/abcd".utf8), .invalidName("/abcd")),
            (46, Array("a\\bcd".utf8), .invalidName("a\\bcd")),
            (46, Array("b.txt".utf8), .malformed("a local header contradicts the directory")),
            (46, [0xFF, 0xFE, 0x41, 0x41, 0x41], .invalidName("\u{FFFD}\u{FFFD}AAA")),
        ] as [(Int, [UInt8], ZipError)])
    func refusesDirectoryRecord(offset: Int, bytes: [UInt8], error: ZipError) throws {
        #expect(try ZipScene.failure(of: Self.patched(ZipFormat.directoryHeader, at: offset, bytes)) == error)
    }

    @Test func refusesEntriesThatOverlap() throws {
        // The contents of the first entry are a local header and contents, to which the second record refers.
        let inner = try ZipScene.archive([ZipScene.File(name: "b", bytes: [1, 2])])
        var archive = try ZipScene.archive([
            ZipScene.File(name: "a", bytes: Array(inner.prefix(ZipFormat.localHeaderBytes + 1 + 9 + 2))),
            ZipScene.File(name: "b", bytes: [1, 2]),
        ])
        #expect(try ZipScene.failure(of: archive) == nil)
        let record = try #require(
            archive.indices.dropLast(3).last { archive[$0..<$0 + 4].elementsEqual([0x50, 0x4B, 1, 2]) })
        archive[record + 42] = UInt8(ZipFormat.localHeaderBytes + 1 + 9)
        for index in record + 43..<record + 46 { archive[index] = 0 }
        #expect(try ZipScene.failure(of: archive) == .malformed("two entries overlap"))
    }

    @Test func refusesTwoEntriesOfOneName() throws {
        let program = """
            import warnings
            warnings.simplefilter('ignore')
            archive = zipfile.ZipFile(path, 'w')
            archive.writestr('a', b'1')
            archive.writestr('a', b'2')
            archive.close()
            """
        #expect(try ZipScene.failure(of: ZipScene.python(program).archive) == .duplicateName("a"))
    }

    @Test func refusesAnArchiveAboveALimit() throws {
        var limits = ZipLimits()
        limits.entries = 1
        #expect(try ZipScene.failure(of: Self.good, limits: limits) == .limitExceeded("more than 1 entries"))
        limits = ZipLimits()
        limits.totalBytes = 505
        #expect(
            try ZipScene.failure(of: Self.good, limits: limits) == .limitExceeded("more than 505 uncompressed bytes"))
        limits = ZipLimits()
        limits.directoryBytes = 50
        #expect(
            try ZipScene.failure(of: Self.good, limits: limits) == .limitExceeded("a directory of more than 50 bytes"))
        let bomb = try ZipScene.archive([
            ZipScene.File(name: "bomb", bytes: [UInt8](repeating: 0, count: 1 << 20), method: .deflated)
        ])
        #expect(
            try ZipScene.failure(of: bomb) == .limitExceeded("an entry is compressed to less than 1/200 of its size"))
    }

    @Test func refusesAnEntryThatInflatesBeyondItsSize() throws {
        // The directory says 499 bytes of 500.
        let archive = Self.patched(ZipFormat.directoryHeader, number: 1, at: 24, [0xF3, 1])
        #expect(try ZipScene.failure(of: archive) == .corrupted(name: "d/b.txt"))
    }

    @Test func refusesAnEndRecordWithinTheComment() throws {
        let end = Array(Self.good.suffix(ZipFormat.endRecordBytes))
        var archive = Self.good + end
        let place = archive.count - end.count - 2
        archive.replaceSubrange(place..<place + 2, with: [UInt8(end.count), 0])
        #expect(try ZipScene.failure(of: archive) == .malformed("there are two end records"))
    }
}
