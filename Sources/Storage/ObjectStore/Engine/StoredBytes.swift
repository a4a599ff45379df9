/// The bytes of one file that is open, to its end, whatever becomes of the file. Used by one thread at a time.
package protocol StoredBytes: AnyObject, Sendable {
    func size() throws -> Int64

    /// Reads all of it, a piece at a time.
    ///
    /// - Throws: also what `body` throws.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws

    /// Reads what stands at `position`, and leaves nothing of it in memory.
    ///
    /// - Returns: how many bytes; 0 at the end of the file.
    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int

    /// Hands over a descriptor that the kernel can send the bytes from, to be closed by the caller. Nothing is read after that.
    func takeDescriptor() -> Int32
}
