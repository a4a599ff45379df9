package import Basics
package import Database

/// Stores bytes under file ids. Rows determine their meaning, and which of them are valid.
///
/// An id is used for one file only. Methods may be called from any thread, and may block. Failures are `StorageFailure`: `missing`
/// if a file does not exist.
package protocol ObjectEngine: AnyObject, Sendable {
    /// The free bytes; `nil` = no limit is known.
    func freeBytes() throws -> Int64?
    /// The bytes that can be used, free or not; `nil` = no limit is known.
    func sizeBytes() throws -> Int64?

    /// Begins to work for a store. Called once, before all others.
    func start(_ start: EngineStart) throws -> any EngineUpkeep

    /// Makes a new file, for an object from a single PUT or for a part that is not written at its place.
    ///
    /// - Parameter length: the number of bytes that its sink gets; `nil` = unknown.
    func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile
    /// Makes a new file for a multipart upload; it survives a power loss once this returns.
    func createMultipart() throws -> NewFile
    /// Whether a part is written at its place in a multipart upload's file, so that Complete moves no bytes. Otherwise each part is first
    /// a file of its own; see ``place(_:in:_:)``.
    func hasPlaces(_ fileID: String) throws -> Bool
    /// Returns a new file with the bytes of another, without moving them if the engine can. It is durable once ``record(_:_:in:)`` has
    /// committed.
    func duplicate(_ fileID: String) throws -> NewFile
    /// Makes a new file for bytes that follow those of another one; see ``recordExtension(_:of:_:in:)``.
    ///
    /// - Parameter length: the number of bytes that follow; `nil` = unknown.
    /// - Returns: `nil` if the bytes of both have to be written as one file.
    func extend(_ fileID: String, _ purpose: FilePurpose, length: Int64?) throws -> NewFile?
    /// Returns a sink that writes a part at its place in the file of its multipart upload, from `position` on. Only of a file with
    /// places.
    func receivePart(at position: Int64, of fileID: String) throws -> any BodySink
    /// Makes the file of a multipart upload contain `parts`, one after the other, and nothing else, durably. May be repeated.
    func complete(_ fileID: String, _ parts: [EnginePart]) throws

    /// Records a new file, in the transaction that makes its row as an object's or as that of a multipart upload.
    ///
    /// - Parameter content: `nil` for a multipart upload.
    /// - Throws: `missing` if it is the duplicate of a file that was removed meanwhile.
    func record(_ fileID: String, _ content: FileContent?, in transaction: Connection) throws
    /// Appends a new file to the one that it was made for, in the transaction that replaces the row of the latter. From then on the new
    /// file has the bytes of both, and the other one does not exist.
    ///
    /// - Returns: `false` if that cannot be done any more: the other file was removed, or is shared with a copy.
    func recordExtension(
        _ fileID: String, of other: String, _ content: FileContent, in transaction: Connection
    ) throws -> Bool
    /// Moves the bytes of a part's own file to its place in the file of its multipart upload, in the transaction that stores the part. They
    /// replace those of an earlier part with the number.
    ///
    /// - Returns: the files to be removed after the commit; `nil` = the part keeps its file, and ``complete(_:_:)`` moves the bytes.
    func place(_ part: EnginePart, in fileID: String, _ transaction: Connection) throws -> [String]?
    /// Takes parts from their places, in the transaction that deletes them.
    ///
    /// - Returns: the files to be removed after the commit.
    func dropParts(_ numbers: [Int], from fileID: String, in transaction: Connection) throws -> [String]

    /// Records that a new file has a row, or was removed, so that it is no longer pending.
    func resolve(_ fileID: String)
    /// Marks a file as one with a row.
    func keep(_ fileID: String)
    /// Marks a file as a finished object's.
    func seal(_ fileID: String)

    func open(_ fileID: String) throws -> any StoredBytes
    /// Opens a file for reading it once as a whole, without leaving it in memory.
    func openToExamine(_ fileID: String) throws -> any StoredBytes
    /// Removes a new file that gets no row; a missing file counts as removed.
    func remove(_ fileID: String) throws
    /// Removes files with their facts, durably: after a power loss none of them is back. Missing files count as removed.
    ///
    /// - Returns: those that were removed. The others cannot be removed now: the caller tries again later.
    func removeDurably(_ fileIDs: [String]) throws -> [String]

    /// Whether the file has facts, for listing it without its database; see ``ObjectStore/describe(_:_:)``.
    func hasFacts(of fileID: String) throws -> Bool
    /// Writes facts, durably.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws
    /// Makes existing facts durable.
    func synchronizeFacts(of fileID: String) throws
    func facts(of fileID: String) -> [UInt8]?
}

/// The surroundings of an engine at the start of its store.
package struct EngineStart: Sendable {
    package let database: Database
    /// The threads that write facts.
    package let factsWriter: FactsWriter
    /// Whether other gateways write the same database and the same files.
    package let hasReplicas: Bool
    /// Returns whether a file of an upload in progress without a row is removed, by the time of its last write.
    package let isOrphan: @Sendable (_ writtenAt: UnixTime) throws -> Bool
    /// Schedules the removal of files and segments in a transaction, and removes them after its commit.
    package let scheduleRemoval: @Sendable (_ ids: [String], _ transaction: Connection) throws -> Void
}

/// The relation of an engine's files and a database at a start.
package enum EngineCondition: Sendable {
    /// They do not belong together; nothing was changed, and nothing is removed.
    case foreign
    /// They belong together, and have to be compared.
    case unclean
    /// They belong together, and neither has changed since the previous process stopped.
    case clean
}

/// The work of an engine apart from requests: it compares files and rows, for a directory after an unclean shutdown.
package protocol EngineUpkeep: AnyObject, Sendable {
    var condition: EngineCondition { get }
    /// The differences between files and rows found so far.
    var reconciliation: StoreReconciliation { get }
    /// The number of folders that are not compared yet.
    var foldersToReconcile: Int { get }
    /// Returns when everything was compared, or the work was stopped.
    func finish() async
    /// Begins to remove files that no row refers to, if that is due. Called every few minutes.
    ///
    /// - Parameter isOrphan: returns whether such a file is old enough, by the time of its last write.
    /// - Returns: the number of files that were removed since the last call.
    func sweep(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) -> Int
    /// Stops soon; the next start begins again.
    func stop()
    /// Returns when no thread works here any more.
    func drain()
    /// Records in the database that the next start need not compare, if files and rows agree. Called after all work has ended.
    func recordCleanStop()
}

extension EngineUpkeep {
    /// For engines that compare files and rows at a start only.
    package func sweep(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) -> Int { 0 }
}

extension ObjectEngine {
    /// For engines without rows of their own.
    package func record(_ fileID: String, _ content: FileContent?, in transaction: Connection) throws {}
    package func extend(_ fileID: String, _ purpose: FilePurpose, length: Int64?) throws -> NewFile? { nil }
    package func recordExtension(
        _ fileID: String, of other: String, _ content: FileContent, in transaction: Connection
    ) throws -> Bool { false }
    package func place(_ part: EnginePart, in fileID: String, _ transaction: Connection) throws -> [String]? { nil }
    package func dropParts(_ numbers: [Int], from fileID: String, in transaction: Connection) throws -> [String] { [] }
}

/// The purpose of a new file, which an engine can record with the bytes: it says what they are if no row does.
package struct FilePurpose: Sendable {
    /// The place of the object, or of the object that the part is for.
    package let place: StoredObject.Place
    /// `nil` for the bytes of a whole object.
    package let part: Part?

    package struct Part: Sendable {
        package let multipartID: String
        package let number: Int
        /// The file of the multipart upload.
        package let multipartFileID: String

        package init(_ number: Int, of multipartID: String, fileID: String) {
            self.number = number
            self.multipartID = multipartID
            multipartFileID = fileID
        }
    }

    package init(_ place: StoredObject.Place, part: Part? = nil) {
        self.place = place
        self.part = part
    }
}

/// The properties of a file's bytes.
package struct FileContent: Sendable, Equatable {
    /// The size in bytes.
    package let size: Int64
    /// CRC-64/XZ.
    package let crc64: UInt64

    package init(size: Int64, crc64: UInt64) {
        self.size = size
        self.crc64 = crc64
    }
}

/// A part of a multipart upload's object.
package struct EnginePart: Sendable, Equatable {
    package let number: Int
    package let content: FileContent
    /// The part's own file; `nil` if it is at its place.
    package let fileID: String?

    /// The size in bytes.
    package var size: Int64 { content.size }

    package init(number: Int, _ content: FileContent, fileID: String?) {
        self.number = number
        self.content = content
        self.fileID = fileID
    }
}

/// Receives the bytes of one body, in order. Used by one thread at a time, except for ``cancel()``.
package protocol BodySink: AnyObject, Sendable {
    /// Whether a call may wait longer than a disk takes, e.g. for a network. The body is then passed on by its own thread, in pieces as
    /// they arrive, and nothing that others need is held meanwhile.
    var mayBlock: Bool { get }
    /// Receives the next bytes. The last ones come after the body's digests were compared with those in the request: a sink that has not
    /// got all bytes of its length must not make them an object.
    ///
    /// - Parameter piece: ``AlignedBlock/size`` bytes in memory that is aligned for direct writes, and fewer only at the end; for a sink
    ///   that may block, at most ``BodyPipeline/pieceSize`` bytes.
    func append(_ piece: UnsafeRawBufferPointer) throws
    /// Makes the bytes durable. Nothing follows; a failure is final.
    ///
    /// - Parameter md5: of all bytes, computed when they arrived.
    func finish(md5: [UInt8]) throws
    /// Ends the body. May be called from any thread, while another one waits here: that call fails at once.
    func cancel()
}

extension BodySink {
    /// For sinks that do not wait.
    package var mayBlock: Bool { false }
    package func cancel() {}
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
    ///
    /// - Returns: `nil` if the bytes are not in a local file: they have to be read.
    func takeDescriptor() -> Int32?
}

/// A new data file without a row: it either gets a row, or is removed.
///
/// After a commit that failed because of the disk, it is unknown until the next start whether the row exists, and whether the row
/// of the replaced object is gone. So the file stays if the outcome is unknown; the start keeps or removes it according to the
/// database.
package final class NewFile {
    package let id: String
    package let sink: any BodySink
    private let engine: any ObjectEngine
    private var isPending = true

    package init(_ id: String, _ sink: any BodySink, in engine: any ObjectEngine) {
        self.id = id
        self.sink = sink
        self.engine = engine
    }

    /// Creates a file whose bytes exist already, or that has none of its own.
    package convenience init(_ id: String, in engine: any ObjectEngine) {
        self.init(id, NoBody(), in: engine)
    }

    deinit {
        abandon()
    }

    /// Runs `write`, which returns when a row of the file is on disk.
    package func commit<T>(_ write: () throws -> T) throws -> T {
        do {
            let value = try write()
            isPending = false
            engine.resolve(id)
            return value
        } catch DatabaseError.outcomeUnknown {
            isPending = false
            throw DatabaseError.outcomeUnknown
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

/// Takes no bytes.
private final class NoBody: BodySink {
    func append(_ piece: UnsafeRawBufferPointer) throws {}
    func finish(md5: [UInt8]) throws {}
}
