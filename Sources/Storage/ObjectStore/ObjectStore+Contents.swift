import Basics
package import Database

/// Access of capabilities to finished objects, without a client's request.
extension ObjectStore {
    /// One read at a time, so that the memory for contents is limited to one object.
    private static let reading = Worker.serial("store.contents")

    /// Returns the finished object at a key, whoever put it there.
    package func object(bucket: String, key: String, in connection: ReadConnection) throws -> StoredObject? {
        try StoreRecords(connection).object(bucket: bucket, key: key)
    }

    /// Returns all bytes of an object.
    ///
    /// - Returns: `nil` if the file is missing or its bytes no longer match their checksum.
    package func contents(of object: StoredObject) async throws -> [UInt8]? {
        let file = StoredFile(fileID: object.fileID, size: object.size, crc64: object.crc64)
        return try await Self.reading.run { [self] in
            var bytes: [UInt8] = []
            let isIntact = try read(file, begin: { bytes.reserveCapacity(Int(file.size)) }) { bytes += $0 }
            return isIntact == true ? bytes : nil
        }
    }

    /// Returns the first bytes of an object.
    ///
    /// - Returns: `count` bytes, or fewer if the object is shorter; none if its file cannot be read.
    package func firstBytes(_ count: Int, of fileID: String) async -> [UInt8] {
        await factsWriter.worker(for: fileID).run { [engine] in
            let bytes = try? [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = try engine.open(fileID).readPassing(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
            return bytes ?? []
        }
    }
}
