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
