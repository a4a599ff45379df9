package import HTTPTypes

/// The bytes of a response that are made while they are sent, in the buffers from which the transport sends them, or in files.
package protocol BodySource: AnyObject, Sendable {
    /// Whether bytes of the response are in files, from which the kernel can send them. Asked before the first byte is read.
    var hasFiles: Bool { get }
    /// Provides the next bytes, on one thread at a time, which may wait for the disk.
    ///
    /// - Parameter passesFiles: whether bytes that are in a file are returned as its range.
    /// - Returns: the bytes, at most as many as `buffer` holds; their number is 0 at the end.
    /// - Throws: the error of the call, whose response is then incomplete.
    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) throws -> HTTPBodyPiece
    /// The error of the call if the bytes of the latest piece, a range of a file, cannot be read.
    var fileFailure: any Error { get }
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
