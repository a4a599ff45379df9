/// Holds bytes under file ids. What they mean, and which of them count, the rows say.
///
/// An id is given to one file and never again. Calls may come from any thread, and may block. Failures are
/// `StorageFailure`: `missing` where a file is not there.
protocol ObjectEngine: AnyObject, Sendable {
    /// A new file, for an object that is put whole or for a part that does not go to its place.
    func create() throws -> NewFile
    /// A new file for a multipart upload; it outlives a power loss when this returns.
    func createMultipart() throws -> NewFile
    /// A new file with the bytes of another one, of which none is moved where the disk can give a file two names; durable
    /// when it returns.
    func duplicate(_ fileID: String) throws -> NewFile
    /// What takes a part to its place in the file of its multipart upload, from `position` on.
    func receivePart(at position: Int64, of fileID: String) throws -> any BodySink
    /// Makes the file of a multipart upload hold `parts`, one behind the other, and nothing else; durable when it returns. May
    /// be repeated.
    func complete(_ fileID: String, _ parts: [EnginePart]) throws

    /// A row speaks of a new file, or it was removed: it is no longer one that a request is making.
    func settle(_ fileID: String)
    /// Marks a file as one that a row speaks of.
    func keep(_ fileID: String)
    /// Marks a file as a finished object's.
    func seal(_ fileID: String)

    func open(_ fileID: String) throws -> any StoredBytes
    /// The same for reading all of it once, without leaving it in memory.
    func openToExamine(_ fileID: String) throws -> any StoredBytes
    /// Removes a file with its facts; one that is not there is removed already.
    func remove(_ fileID: String) throws

    /// Facts stand beside a file, for whoever finds it without its database; see ``ObjectStore/describe(_:_:)``.
    func hasFacts(of fileID: String) throws -> Bool
    /// Durable when it returns.
    func writeFacts(_ facts: [UInt8], of fileID: String) throws
    /// Makes facts that are there durable.
    func synchronizeFacts(of fileID: String) throws
    func facts(of fileID: String) -> [UInt8]?
}

/// A part that a multipart upload's object is made of.
struct EnginePart: Sendable, Equatable {
    let number: Int
    /// Bytes.
    let size: Int64
    /// The file that it has of its own; nil where it stands at its place.
    let fileID: String?
}
