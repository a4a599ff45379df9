import Basics
import Checksums
package import Database

/// Reads the file of a finished object once from its beginning to its end, and compares its checksum. Used by one thread at a time.
package final class ObjectReader: @unchecked Sendable {  // used by one thread at a time
    /// The reason why an object cannot be read to its end.
    package enum Failure: Error, Sendable, Equatable {
        /// The file was removed.
        case missing
        /// The bytes do not match the size or the checksum, or the disk cannot read them.
        case corrupted
    }

    private let file: StoredFile
    private let bytes: any StoredBytes
    private var position: Int64 = 0
    private var crc64 = CRC64()

    fileprivate init(_ file: StoredFile, _ bytes: any StoredBytes) throws(Failure) {
        self.file = file
        self.bytes = bytes
        guard (try? bytes.size()) == file.size else { throw .corrupted }
    }

    /// Fills a buffer with the next bytes.
    ///
    /// - Returns: the number of bytes; 0 at the end of the object, whose bytes were all intact then.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        let rest = file.size - position
        guard rest > 0 else {
            guard crc64.value == file.crc64 else { throw .corrupted }
            return 0
        }
        let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), rest))])
        guard let count = try? bytes.read(into: wanted, at: position), count > 0 else { throw .corrupted }
        crc64.update(UnsafeRawBufferPointer(rebasing: wanted[..<count]))
        position += Int64(count)
        return count
    }

    /// Transfers the file's descriptor to the caller, who closes it. Nothing is read afterwards, and so nothing compared.
    ///
    /// - Returns: `nil` if the bytes have to be read.
    package func takeDescriptor() -> Int32? { bytes.takeDescriptor() }
}

extension ObjectStore {
    /// Opens a data file for reading any of its bytes.
    package func bytes(of fileID: String) throws -> any StoredBytes {
        try engine.open(fileID)
    }

    /// Opens a finished object's file, which stays readable if the object is deleted meanwhile.
    package func reader(of file: StoredFile) throws(ObjectReader.Failure) -> ObjectReader {
        let bytes: any StoredBytes
        do {
            bytes = try engine.open(file.fileID)
        } catch StorageFailure.missing {
            throw .missing
        } catch {
            throw .corrupted
        }
        return try ObjectReader(file, bytes)
    }
}

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
        await work.factsWriter.worker(for: fileID).run { [engine] in
            let bytes = try? [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = try engine.open(fileID).readPassing(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
            return bytes ?? []
        }
    }
}
