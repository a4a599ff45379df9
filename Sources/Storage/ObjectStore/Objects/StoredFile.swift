import Basics
import Checksums
import Crypto
package import Database

/// A finished object's data file, according to its row.
package struct StoredFile: Sendable, Equatable {
    /// 32 hexadecimal digits.
    package let fileID: String
    /// The size in bytes.
    package let size: Int64
    /// CRC-64/XZ of the whole file.
    package let crc64: UInt64

    package init(fileID: String, size: Int64, crc64: UInt64) {
        self.fileID = fileID
        self.size = size
        self.crc64 = crc64
    }

    /// Counts the finished objects whose file existed at the last start.
    package static func count(in connection: ReadConnection) throws -> Int {
        try StoreRecords(connection).countStoredFiles()
    }

    /// Whether the data directory has the bytes of an object or of a multipart upload.
    package static func anyIsInDirectory(in connection: ReadConnection) throws -> Bool {
        let records = StoreRecords(connection)
        guard try records.directoryHoldsBytes() != false else { return false }
        let found = try records.countToCopy(inBucket: false)
        return found.objects + found.uploads > 0
    }

    /// Whether a bucket has the bytes of a file.
    package static func anyIsSegmented(in connection: ReadConnection) throws -> Bool {
        try StoreRecords(connection).hasSegmentedFiles()
    }

    /// Makes all files those of a directory, where each is whole.
    package static func forgetSegments(in transaction: Connection) throws {
        try StoreRecords(transaction).forgetSegments()
    }

    /// Gives a database another history, because rows may have been lost: its engine removes nothing until both were compared.
    package static func renewHistory(in transaction: Connection) throws {
        try StoreRecords(transaction).setHistory(Random.hex(16))
    }

    /// Returns the sum of their sizes in bytes.
    package static func bytes(in connection: ReadConnection) throws -> Int64 {
        try StoreRecords(connection).sumStoredFiles()
    }

    /// Returns the CRC-32 of each of these objects that has one, by file id.
    package static func crc32s(of fileIDs: [String], in connection: ReadConnection) throws -> [String: UInt32] {
        try StoreRecords(connection).crc32s(ofFiles: fileIDs)
    }

    /// Calls `body` with each of them in the order of their ids, reading some at a time.
    package static func forEach(in connection: ReadConnection, _ body: (StoredFile) throws -> Void) throws {
        var last = ""
        while true {
            let page = try StoreRecords(connection).storedFiles(after: last, limit: 1000)
            for file in page { try body(file) }
            guard let end = page.last else { return }
            last = end.fileID
        }
    }
}

extension ObjectStore {
    /// Returns the facts beside a file.
    package func facts(of fileID: String) -> [UInt8]? {
        engine.facts(of: fileID)
    }

    /// Reads a finished object's file piece by piece, and always passes on as many bytes as the object has. From the first
    /// unreadable piece on, the rest is zeros, so that one bad sector does not stop a backup.
    ///
    /// - Parameter body: not called if the file is missing or has another size.
    /// - Returns: whether the bytes are the stored ones; `nil` if `body` was not called.
    package func read(
        _ file: StoredFile, begin: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool? {
        let opened: (any StoredBytes)?
        do {
            let found = try engine.open(file.fileID)
            guard try found.size() == file.size else { return nil }
            opened = found
        } catch StorageFailure.unreadable {
            opened = nil
        } catch is StorageFailure {
            return nil
        }
        try begin()
        var crc64 = CRC64()
        var position: Int64 = 0
        do {
            try opened?.forEachPiece { piece in
                crc64.update(piece)
                position += Int64(piece.count)
                try body(piece)
            }
        } catch StorageFailure.unreadable {
            // The missing bytes follow as zeros.
        }
        guard position == file.size else {
            try Self.forEachZeroPiece(file.size - position, body)
            return false
        }
        return crc64.value == file.crc64
    }

    private static func forEachZeroPiece(_ count: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 18)
        for start in stride(from: 0, to: count, by: zeros.count) {
            let size = min(zeros.count, Int(count - start))
            try zeros.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<size])) }
        }
    }
}
