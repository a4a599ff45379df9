/// The limits for reading one recording.
package struct MCAPLimits: Sendable {
    /// The number of different topics that are kept, and the longest of them in bytes.
    package static let topics = 1000
    package static let topicBytes = 256

    /// The longest summary section in bytes that is read as a whole. Of a longer one, the groups that its Summary Offset section
    /// names are read.
    package var summaryBytes: Int64
    /// The number of bytes that are read of a recording in all.
    package var readBytes: Int64
    /// The number of bytes after which chunks are no longer searched for channels, so that the rest is left for the times of the
    /// chunks up to the end of the file.
    package var bytesBeforeSkippingChunks: Int64

    package init(
        summaryBytes: Int64 = 16 << 20, readBytes: Int64 = 64 << 20, bytesBeforeSkippingChunks: Int64 = 32 << 20
    ) {
        self.summaryBytes = summaryBytes
        self.readBytes = readBytes
        self.bytesBeforeSkippingChunks = bytesBeforeSkippingChunks
    }
}
