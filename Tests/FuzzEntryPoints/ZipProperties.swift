import Basics
import Zip

/// Properties of the reader and the writer of archives.
enum ZipProperties {
    /// Archives with stored and deflated entries, one cut short, and an empty one.
    static let seeds: [[UInt8]] = {
        let small = archive([
            ("a.txt", Array("text".utf8), .stored), ("d/b", [UInt8](repeating: 7, count: 500), .deflated),
        ])
        return [small, Array(small.dropLast(4)), archive([])]
    }()

    /// An archive is refused, or its names are valid and unique, each entry is read to its size or refused, and what was read is
    /// the same after it was written again.
    static func check(_ input: [UInt8]) {
        var limits = ZipLimits()
        limits.entries = 100
        limits.totalBytes = 1 << 20
        guard let reader = try? ZipReader(ZipBytes(input), limits: limits) else { return }
        var entries: [(String, [UInt8], ZipEntry.Method)] = []
        for entry in reader.entries {
            precondition(ZipEntry.isValid(name: entry.name), "an invalid name was read")
            guard let bytes = contents(of: entry, in: reader) else { continue }
            precondition(Int64(bytes.count) == entry.size, "an entry was read with another size")
            entries.append((entry.name, bytes, entry.method))
        }
        let written = archive(entries)
        guard let again = try? ZipReader(ZipBytes(written)) else { fatalError("a written archive is refused") }
        precondition(again.entries.map(\.name) == entries.map(\.0), "the names are not read as they were written")
        for (entry, expected) in zip(again.entries, entries) {
            precondition(contents(of: entry, in: again) == expected.1, "an entry is not read as it was written")
        }
    }

    private static func contents(of entry: ZipEntry, in reader: ZipReader<ZipBytes>) -> [UInt8]? {
        var bytes: [UInt8] = []
        do {
            try reader.read(entry) { bytes += $0 }
        } catch {
            precondition(Int64(bytes.count) <= entry.size, "more bytes were read than the entry has")
            return nil
        }
        return bytes
    }

    private static func archive(_ entries: [(name: String, bytes: [UInt8], method: ZipEntry.Method)]) -> [UInt8] {
        var writer = ZipWriter()
        var archive: [UInt8] = []
        for (name, bytes, method) in entries {
            guard let header = try? writer.begin(name, time: UnixTime(seconds: 1_800_000_000), method: method) else {
                fatalError("a name that was read is refused")
            }
            archive += header
            bytes.withUnsafeBytes { piece in
                if method == .deflated {
                    archive += writer.compress(piece)
                } else {
                    writer.pass(piece)
                    archive += piece
                }
            }
            archive += writer.end()
        }
        return archive + writer.finish()
    }
}
