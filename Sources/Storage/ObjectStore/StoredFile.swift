import Database

/// A finished object's data file, as rows speak of it.
package struct StoredFile: Sendable, Equatable {
    /// 32 hex digits.
    package let fileID: String
    /// Bytes.
    package let size: Int64
    /// CRC-64/XZ of the whole.
    package let crc64: UInt64

    package init(fileID: String, size: Int64, crc64: UInt64) {
        self.fileID = fileID
        self.size = size
        self.crc64 = crc64
    }

    /// How many finished objects a database knows whose file was there at the last start.
    package static func count(in connection: Connection) throws -> Int {
        try StoreRecords(connection).countStoredFiles()
    }

    /// All of them in the order of their ids, some at a time.
    package static func forEach(in connection: Connection, _ body: (StoredFile) throws -> Void) throws {
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
    /// The facts that stand beside a file.
    package func facts(of fileID: String) -> [UInt8]? {
        engine.facts(of: fileID)
    }

    /// Reads a finished object's file, a piece at a time: always as many bytes as it has. From the first piece on that the
    /// disk cannot read, zeros stand for the rest, so that one bad sector does not keep a backup from its end.
    ///
    /// - Parameter body: not called at all where the file is gone or has another size.
    /// - Returns: whether the bytes are those that were stored; `nil` where `body` was not called.
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
            // What is missing follows as zeros.
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
