import Database

/// A finished object's data file, as rows speak of it.
public struct StoredFile: Sendable, Equatable {
    /// 32 hex digits.
    public let fileID: String
    /// Bytes.
    public let size: Int64
    /// CRC-64/XZ of the whole.
    public let crc64: UInt64

    public init(fileID: String, size: Int64, crc64: UInt64) {
        self.fileID = fileID
        self.size = size
        self.crc64 = crc64
    }

    /// How many finished objects a database knows whose file was there at the last start.
    public static func count(in connection: Connection) throws -> Int {
        try StoreRecords(connection).countStoredFiles()
    }

    /// All of them in the order of their ids, some at a time.
    public static func forEach(in connection: Connection, _ body: (StoredFile) throws -> Void) throws {
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
    public func facts(of fileID: String) -> [UInt8]? {
        data.facts(of: fileID)
    }

    /// Reads a finished object's file, a piece at a time.
    ///
    /// - Parameter body: is not called at all where the file is gone or has another size.
    /// - Returns: whether the bytes are those that were stored; nil where `body` was not called.
    public func read(
        _ file: StoredFile, begin: () throws -> Void, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool? {
        guard let open = try? data.open(file.fileID, for: .reading), try open.size() == file.size else { return nil }
        try begin()
        var crc64 = CRC64()
        try open.forEachPiece { piece in
            crc64.update(piece)
            try body(piece)
        }
        return crc64.value == file.crc64
    }
}
