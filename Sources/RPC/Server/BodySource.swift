/// The bytes of a response that are made while they are sent, in the buffers from which the transport sends them.
package protocol BodySource: AnyObject, Sendable {
    /// Writes the next bytes, on one thread at a time, which may wait for the disk.
    ///
    /// - Returns: the number of bytes; 0 at the end.
    /// - Throws: the error of the call, whose response is then incomplete.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

extension CallContext {
    /// Sends all bytes of a source as a response that is a stream of `google.api.HttpBody`, and returns after the last.
    ///
    /// - Returns: `false` if the protocol needs messages, or the transport has no thread for this; nothing is sent then.
    /// - Throws: if the call was cancelled, its deadline passed, or its connection was lost.
    package func send(_ source: any BodySource, as contentType: String) async throws -> Bool {
        guard let bodySender else { return false }
        return try await bodySender(source, contentType)
    }
}
