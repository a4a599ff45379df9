import Basics
import Checksums
import Database

/// The condition of a finished object's bytes when they were read again.
package enum ObjectCondition: Sendable, Equatable {
    case intact
    /// The reason why the bytes no longer match their checksum, as text for the log.
    case bad(String)
    /// The object was deleted.
    case deleted
}

extension ObjectStore {
    private static let reading = Worker.serial("store.examination")

    /// Reads a finished object's file again and compares its CRC-64, without the page cache or without leaving anything in it, so
    /// that contents that clients read often stay there. Records the CRC-32 of an intact object that has none.
    ///
    /// - Parameter pace: called with the size of each piece; returns when it may be read.
    /// - Throws: the error of `pace`, and failures that do not concern the object.
    package func examine(uploadID: String, pace: (Int) async throws -> Void) async throws -> ObjectCondition {
        let (found, isLost) = try await database.read { connection in
            let records = StoreRecords(connection)
            return (try records.object(uploadID: uploadID), try records.isObjectLost(uploadID: uploadID))
        }
        guard let object = found else { return isLost ? .bad("its file is missing") : .deleted }
        do {
            let file = try engine.openToExamine(object.fileID)
            guard try file.size() == object.size else { return .bad("its file has a different size") }
            let block = AlignedBlock()
            var crc64 = CRC64()
            var crc32 = CRC32()
            var position: Int64 = 0
            while position < object.size {
                try await pace(Int(min(Int64(AlignedBlock.size), object.size - position)))
                let count = try await Self.read(file, into: block, at: position)
                guard count > 0 else { return .bad("its file has a different size") }
                let piece = UnsafeRawBufferPointer(rebasing: block.bytes[..<count])
                crc64.update(piece)
                if object.crc32 == nil { crc32.update(piece) }
                position += Int64(count)
            }
            guard crc64.value == object.crc64 else { return .bad("its bytes do not match its checksum") }
            if object.crc32 == nil { try await record(crc32.value, of: object) }
            return .intact
        } catch StorageFailure.missing {
            return .bad("its file is missing")
        } catch StorageFailure.unreadable(let code) {
            return .bad("\(StorageFailure.unreadable(errno: code))")
        }
    }

    /// Records a CRC-32, unless the database is full; then a later examination does.
    private func record(_ crc32: UInt32, of object: StoredObject) async throws {
        do {
            try await database.write { try StoreRecords($0).record(crc32: crc32, ofFile: object.fileID) }
        } catch DatabaseError.full {
            return
        }
    }

    /// Fills the block, up to the end of the file. Reads on a thread of its own, because a disk may be slow.
    private static func read(_ file: any StoredBytes, into block: AlignedBlock, at position: Int64) async throws -> Int
    {
        try await reading.run {
            var filled = 0
            while filled < AlignedBlock.size {
                let rest = UnsafeMutableRawBufferPointer(rebasing: block.bytes[filled...])
                let count = try file.readPassing(into: rest, at: position + Int64(filled))
                if count == 0 { break }
                filled += count
            }
            return filled
        }
    }
}
