import Basics
import TestSupport
import Testing

@testable import Zip

@Suite(.timeLimited) struct ZipWriterTests {
    private static let text = Array((10_000..<15_000).map { "a line: \($0)\n" }.joined().utf8)

    @Test func pythonReadsWhatWasWritten() throws {
        let archive = try ZipScene.archive([
            ZipScene.File(name: "261121-000001/run 07.mcap", bytes: Self.text),
            ZipScene.File(name: "데이터/ä.txt", bytes: Self.text, method: .deflated),
            ZipScene.File(name: "empty", bytes: [], largestSize: nil),
            ZipScene.File(name: "empty-deflated", bytes: [], method: .deflated, largestSize: nil),
        ])
        let program = """
            archive = zipfile.ZipFile(path)
            assert archive.testzip() is None
            for info in archive.infolist():
                print(info.filename, info.date_time, len(archive.read(info)), info.compress_type, info.external_attr >> 16)
            """
        let printed = try ZipScene.python(program, archive: archive).output
        #expect(
            printed == """
                261121-000001/run 07.mcap (2026, 11, 22, 0, 0, 0) 70000 0 33188
                데이터/ä.txt (2026, 11, 22, 0, 0, 0) 70000 8 33188
                empty (2026, 11, 22, 0, 0, 0) 0 0 33188
                empty-deflated (2026, 11, 22, 0, 0, 0) 0 8 33188

                """)
    }

    @Test func knownContentsAreDescribedBeforeTheirBytes() throws {
        let archive = try ZipScene.archive([
            ZipScene.File(name: "known", bytes: Self.text, isKnown: true),
            ZipScene.File(name: "empty", bytes: [], isKnown: true),
            ZipScene.File(name: "unknown", bytes: Self.text),
        ])
        let program = """
            import struct
            archive = zipfile.ZipFile(path)
            assert archive.testzip() is None
            for info in archive.infolist():
                with open(path, "rb") as file:
                    file.seek(info.header_offset + 14)
                    assert struct.unpack("<III", file.read(12)) == (
                        (0, 0, 0) if info.flag_bits & 8 else (info.CRC, info.file_size, info.file_size))
                print(info.filename, info.flag_bits, len(archive.read(info)))
            """
        let printed = try ZipScene.python(program, archive: archive).output
        #expect(printed == "known 2048 70000\nempty 2048 0\nunknown 2056 70000\n")
        #expect(try ZipScene.contents(of: archive) == ["known": Self.text, "empty": [], "unknown": Self.text])
    }

    @Test func deflatedEntriesAreSmaller() throws {
        let archive = try ZipScene.archive([ZipScene.File(name: "a", bytes: Self.text, method: .deflated)])
        #expect(archive.count < Self.text.count / 4)
        #expect(try ZipScene.contents(of: archive) == ["a": Self.text])
    }

    @Test func archiveOfManyEntriesUsesZip64() throws {
        let names = (0..<70_000).map { "file-\($0)" }
        let archive = try ZipScene.archive(names.map { ZipScene.File(name: $0, bytes: []) })
        let program = "print(len(zipfile.ZipFile(path).namelist()))"
        #expect(try ZipScene.python(program, archive: archive).output == "70000\n")
        #expect(try ZipReader(ZipBytes(archive)).entries.map(\.name) == names)
    }

    @Test func numbersBeyondFourGibibytesAreWritten() throws {
        var writer = ZipWriter()
        var archive = try writer.begin("large", time: ZipScene.time)
        let piece = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<4097 { piece.withUnsafeBytes { writer.pass($0) } }
        archive = writer.end()
        _ = try writer.begin("behind", time: ZipScene.time, largestSize: 1)
        _ = writer.end()
        let end = writer.finish()
        // The directory alone contains all positions.
        let source = SparseArchive(end: end, size: Int64(4097) << 20 + 1000)
        let directory = try ZipDirectory(source.placed(), limits: ZipLimits())
        #expect(directory.records.map(\.entry.size) == [4097 << 20, 0])
        #expect(directory.records[1].entry.offset > 4097 << 20)
        #expect(archive.count == 24)
    }

    @Test(arguments: [Int64(UInt32.max), 5 << 30]) func largeKnownSizesAreInTheLocalHeader(size: Int64) throws {
        var writer = ZipWriter()
        let header = try writer.begin(
            "large", time: ZipScene.time, ZipWriter.KnownContents(size: size, crc32: 0x1234_5678))
        writer.skip(size)
        #expect(writer.end().isEmpty)
        let source = SparseArchive(end: writer.finish(), size: size + 1000)
        let directory = try ZipDirectory(source.placed(), limits: ZipLimits())
        #expect(directory.records.map(\.entry.size) == [size])
        #expect(directory.records.map(\.entry.crc32) == [0x1234_5678])
        // Both sizes are in the first extra field, after the name.
        let sizes = header.dropFirst(ZipFormat.localHeaderBytes + "large".utf8.count + 4).prefix(16)
        let expected = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        #expect(Array(sizes) == expected + expected)
    }

    @Test func lengthIsKnownWithoutTheContents() throws {
        let files =
            (0..<70_000).map { ZipScene.File(name: "file-\($0)", bytes: []) } + [
                ZipScene.File(name: "텍스트", bytes: Self.text),
                ZipScene.File(name: "unbounded", bytes: Self.text, largestSize: nil),
                ZipScene.File(name: "known", bytes: Self.text, isKnown: true),
            ]
        var writer = ZipWriter()
        for file in files {
            _ = try file.begin(&writer)
            writer.skip(Int64(file.bytes.count))
            _ = writer.end()
        }
        _ = writer.finish()
        #expect(try ZipScene.archive(files).count == Int(writer.length))
    }

    @Test func refusesNamesThatLeaveTheDirectoryOrRepeat() throws {
        for name in [
            "", "/a", "a/", "../a", "a/../b", "a//b", "./a", "a\\b", "c:a", "a\nb", String(repeating: "a", count: 256),
        ] {
            var writer = ZipWriter()
            #expect(throws: ZipError.invalidName(name)) { try writer.begin(name, time: ZipScene.time) }
        }
        var writer = ZipWriter()
        _ = try writer.begin("a", time: ZipScene.time)
        _ = writer.end()
        #expect(throws: ZipError.duplicateName("a")) { try writer.begin("a", time: ZipScene.time) }
    }

    @Test func timesOutsideTheFormatAreMovedToItsBounds() throws {
        for (seconds, expected) in [(Int64(0), "1980"), (4_500_000_000, "2107")] {
            var writer = ZipWriter()
            var archive = try writer.begin("a", time: UnixTime(seconds: seconds))
            archive += writer.end()
            archive += writer.finish()
            let program = "print(zipfile.ZipFile(path).infolist()[0].date_time[0])"
            #expect(try ZipScene.python(program, archive: archive).output == expected + "\n")
        }
    }
}

/// The end of an archive whose contents are not held in memory.
private struct SparseArchive: ZipSource {
    let end: [UInt8]
    var size: Int64

    /// Returns the end at the position that its records state.
    func placed() -> SparseArchive {
        let record = end.count - ZipFormat.endRecordBytes - ZipFormat.zip64EndLocatorBytes - 8
        let offset = (0..<8).reversed().reduce(Int64(0)) { $0 << 8 | Int64(end[record + $1]) }
        return SparseArchive(end: end, size: offset + Int64(end.count))
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(ZipError) {
        let start = size - Int64(end.count)
        for index in buffer.indices {
            let place = offset + Int64(index)
            buffer[index] = place < start ? 0 : end[Int(place - start)]
        }
    }
}
