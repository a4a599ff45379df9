import Basics

/// Makes the files that exist only during an import or export.
struct LibraryFiles: Sendable {
    let directory: String

    func make() throws(UnnamedFile.Failure) -> LibraryFile { LibraryFile(try UnnamedFile(in: directory)) }
}

/// A file that is written once, from its beginning to its end, and then read.
///
/// Sendable although it is mutable: one task writes it, and others read it after that.
final class LibraryFile: @unchecked Sendable {  // one writer, then readers
    /// The largest piece of a read, in bytes.
    private static let piece = 256 << 10

    let file: UnnamedFile
    private(set) var size: Int64 = 0

    init(_ file: UnnamedFile) {
        self.file = file
    }

    func append(_ bytes: [UInt8]) throws(UnnamedFile.Failure) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(UnnamedFile.Failure) in try file.write(bytes, at: size) }
        }
        try result.get()
        size += Int64(bytes.count)
    }

    /// Returns the bytes at an offset below ``size``.
    func piece(at offset: Int64) throws(UnnamedFile.Failure) -> [UInt8] {
        let piece = try file.read(at: offset, count: Int(min(Int64(Self.piece), size - offset)))
        guard !piece.isEmpty else { throw UnnamedFile.Failure(operation: "pread", code: 0) }
        return piece
    }

    /// Passes the content to `body`, piece by piece.
    nonisolated(nonsending) func forEachPiece(
        _ body: nonisolated(nonsending) ([UInt8]) async throws -> Void
    ) async throws {
        var offset: Int64 = 0
        while offset < size {
            let start = offset
            let piece: [UInt8] = try await Worker.disk.run { try self.piece(at: start) }
            offset += Int64(piece.count)
            try await body(piece)
        }
    }
}
