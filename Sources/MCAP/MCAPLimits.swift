/// The limits of a summary that is read.
package enum MCAPLimits {
    /// The longest summary section in bytes.
    package static let summaryBytes: Int64 = 16 << 20
    /// The number of different topics that are kept, and the longest of them in bytes.
    package static let topics = 1000
    package static let topicBytes = 256
}
