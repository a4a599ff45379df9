import Database

/// Stores bytes under file ids. Rows determine their meaning, and which of them are valid.
///
/// An id is used for one file only. Methods may be called from any thread, and may block. Failures are `StorageFailure`: `missing`
/// if a file does not exist.
protocol ObjectEngine: AnyObject, Sendable {
    /// Makes a new file, for an object from a single PUT or for a part that is not written at its place.
    func create() throws -> NewFile
    /// Makes a new file for a multipart upload; it survives a power loss once this returns.
    func createMultipart() throws -> NewFile
    /// Returns a new file with the bytes of another, by a hard link if the file system can create one. It is durable on return.
    func duplicate(_ fileID: String) throws -> NewFile
    /// Returns a sink that writes a part at its place in the file of its multipart upload, from `position` on.
    func receivePart(at position: Int64, of fileID: String) throws -> any BodySink
    /// Makes the file of a multipart upload contain `parts`, one after the other, and nothing else, durably. May be repeated.
    func complete(_ fileID: String, _ parts: [EnginePart]) throws

    /// Records that a new file has a row, or was removed, so that it is no longer pending.
    func resolve(_ fileID: String)
    /// Marks a file as one with a row.
    func keep(_ fileID: String)
    /// Marks a file as a finished object's.
    func seal(_ fileID: String)

    func open(_ fileID: String) throws -> any StoredBytes
    /// Opens a file for reading it once as a whole, without leaving it in memory.
    func openToExamine(_ fileID: String) throws -> any StoredBytes
    /// Removes a file with its facts; a missing file counts as removed.
    func remove(_ fileID: String) throws
    /// Makes the removals of files, and of their facts, durable: after a power loss none of them is back.
    func synchronizeRemovals(of fileIDs: [String]) throws

    /// Whether the file has facts, for listing it without its database; see ``ObjectStore/describe(_:_:)``.
    func hasFacts(of fileID: String) throws -> Bool
    /// Writes facts, durably.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws
    /// Makes existing facts durable.
    func synchronizeFacts(of fileID: String) throws
    func facts(of fileID: String) -> [UInt8]?
}

/// A part of a multipart upload's object.
struct EnginePart: Sendable, Equatable {
    let number: Int
    /// The size in bytes.
    let size: Int64
    /// The part's own file; `nil` if it is at its place.
    let fileID: String?
}

/// Receives the bytes of one body, in order. Used by one thread at a time.
protocol BodySink: AnyObject, Sendable {
    /// Receives ``AlignedBlock/size`` bytes in memory that is aligned for direct writes.
    func append(block: UnsafeRawBufferPointer) throws
    /// Receives the end of the body, which fills no block. No block follows.
    func append(end: UnsafeRawBufferPointer) throws
    /// Makes the bytes durable. Nothing follows; a failure is final.
    func finish() throws
}

/// The bytes of an open file, readable to the end even if the file is removed. Used by one thread at a time.
package protocol StoredBytes: AnyObject, Sendable {
    func size() throws -> Int64

    /// Reads the whole file piece by piece.
    ///
    /// - Throws: also the error of `body`.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws

    /// Reads the bytes at `position`.
    ///
    /// - Returns: the number of bytes; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int

    /// Reads the bytes at `position`, and leaves none of them in memory.
    ///
    /// - Returns: the number of bytes; 0 at the end of the file.
    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int

    /// Transfers a descriptor for sending to the caller, who closes it. Nothing is read afterwards.
    func takeDescriptor() -> Int32
}

/// A new data file without a row: it either gets a row, or is removed.
///
/// After a commit that failed because of the disk, it is unknown until the next start whether the row exists, and whether the row
/// of the replaced object is gone. So the file stays if the outcome is unknown; the start keeps or removes it according to the
/// database.
final class NewFile {
    let id: String
    let sink: any BodySink
    private let engine: any ObjectEngine
    private var isPending = true

    init(_ id: String, _ sink: any BodySink, in engine: any ObjectEngine) {
        self.id = id
        self.sink = sink
        self.engine = engine
    }

    deinit {
        abandon()
    }

    /// Runs `write`, which returns when a row of the file is on disk.
    func commit<T>(_ write: () throws -> T) throws -> T {
        do {
            let value = try write()
            isPending = false
            engine.resolve(id)
            return value
        } catch DatabaseError.writerEnded {
            isPending = false
            throw DatabaseError.writerEnded
        }
    }

    /// Removes the file, unless it has a row, or may have one.
    func abandon() {
        guard isPending else { return }
        isPending = false
        // If even that fails, the file stays pending, and the next start handles it.
        guard (try? engine.remove(id)) != nil else { return }
        engine.resolve(id)
    }
}
