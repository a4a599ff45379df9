import Basics
import Checksums
import Foundation

@testable import Zip

/// Makes and reads archives.
enum ZipScene {
    static let time = UnixTime(seconds: 1_795_305_601)

    struct File {
        var name: String
        var bytes: [UInt8]
        var method = ZipEntry.Method.stored
        var largestSize: Int64? = 1 << 20
        /// Whether the size and the checksum are announced.
        var isKnown = false

        func begin(_ writer: inout ZipWriter) throws -> [UInt8] {
            guard isKnown else { return try writer.begin(name, time: time, method: method, largestSize: largestSize) }
            var crc32 = CRC32()
            bytes.withUnsafeBytes { crc32.update($0) }
            return try writer.begin(
                name, time: time, ZipWriter.KnownContents(size: Int64(bytes.count), crc32: crc32.value))
        }
    }

    static func archive(_ files: [File]) throws -> [UInt8] {
        var writer = ZipWriter()
        var archive: [UInt8] = []
        for file in files {
            archive += try file.begin(&writer)
            // In two pieces.
            for half in [file.bytes.prefix(file.bytes.count / 2), file.bytes.dropFirst(file.bytes.count / 2)] {
                half.withUnsafeBytes { piece in
                    if file.method == .deflated {
                        archive += writer.compress(piece)
                    } else {
                        writer.pass(piece)
                        archive += half
                    }
                }
            }
            archive += writer.end()
        }
        return archive + writer.finish()
    }

    static func contents(of archive: [UInt8], limits: ZipLimits = ZipLimits()) throws -> [String: [UInt8]] {
        let reader = try ZipReader(ZipBytes(archive), limits: limits)
        var contents: [String: [UInt8]] = [:]
        for entry in reader.entries {
            var bytes: [UInt8] = []
            try reader.read(entry) { bytes += $0 }
            contents[entry.name] = bytes
        }
        return contents
    }

    /// - Returns: the error of an archive that is refused; `nil` if every entry was read.
    static func failure(of archive: [UInt8], limits: ZipLimits = ZipLimits()) throws -> ZipError? {
        do {
            _ = try contents(of: archive, limits: limits)
            return nil
        } catch let error as ZipError {
            return error
        }
    }

    /// Runs Python with a program and the path of an archive.
    ///
    /// - Returns: what it printed, and the archive afterwards.
    static func python(_ program: String, archive: [UInt8] = []) throws -> (output: String, archive: [UInt8]) {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("zip-\(UUID().uuidString).zip").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        if !archive.isEmpty { try Data(archive).write(to: URL(fileURLWithPath: path)) }
        // Foundation's Process reads beyond a folder's entries in a process with many open files.
        let script = path + ".py"
        defer { try? FileManager.default.removeItem(atPath: script) }
        try Data("import sys, zipfile\npath = sys.argv[1]\n\(program)".utf8).write(to: URL(fileURLWithPath: script))
        guard let stream = popen("python3 '\(script)' '\(path)'", "re") else {
            throw ZipError.malformed("Python cannot be run")
        }
        var bytes: [UInt8] = []
        while case let byte = getc(stream), byte != EOF { bytes.append(UInt8(byte)) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard pclose(stream) == 0 else { throw ZipError.malformed("Python failed: \(text)") }
        return (text, FileManager.default.contents(atPath: path).map { Array($0) } ?? [])
    }
}
