import Database
import Dispatch

/// Finished objects as capabilities read them, without a client's request.
extension ObjectStore {
    /// One at a time, so that the memory for what is being read is bounded by one of them.
    private static let reading = DispatchQueue(label: "store.contents")

    /// What is finished at a key, whoever put it there.
    package func object(bucket: String, key: String, in connection: Connection) throws -> StoredObject? {
        try StoreRecords(connection).object(bucket: bucket, key: key)
    }

    /// All bytes of an object.
    ///
    /// - Returns: `nil` if the file is missing or its bytes no longer match their checksum.
    package func contents(of object: StoredObject) async throws -> [UInt8]? {
        let file = StoredFile(fileID: object.fileID, size: object.size, crc64: object.crc64)
        return try await withCheckedThrowingContinuation { continuation in
            Self.reading.async { [self] in
                continuation.resume(
                    with: Result {
                        var bytes: [UInt8] = []
                        let isIntact = try read(file, begin: { bytes.reserveCapacity(Int(file.size)) }) { bytes += $0 }
                        return isIntact == true ? bytes : nil
                    })
            }
        }
    }

    /// The first bytes of an object.
    ///
    /// - Returns: `count` bytes, or fewer where the object has no more; none where its file cannot be read.
    package func firstBytes(_ count: Int, of fileID: String) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            factsWriter.perform(for: fileID) { [engine] in
                let bytes = try? [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                    filled = try engine.open(fileID).readPassing(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
                }
                continuation.resume(returning: bytes ?? [])
            }
        }
    }
}
