import Checksums

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
    package func takeDescriptor() -> Int32 { bytes.takeDescriptor() }
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
