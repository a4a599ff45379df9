/// What somebody who watches an upload may want to know.
package enum UploadNotice: Sendable {
    /// - Parameter acknowledged: bytes that the store has already.
    case began(UploadState, acknowledged: Int64)
    /// The bytes that the store has acknowledged, after it was asked.
    case standing(acknowledged: Int64, size: Int64)
    /// Bytes that were sent since the last notice; negative where a part broke off and its bytes count no more.
    case moved(bytes: Int64)
    /// The store acknowledged a part.
    case acknowledged(part: Int, bytes: Int64)
    /// Something failed that may pass.
    case waiting(what: String, reason: any Error, delay: Duration)
    /// What was stored is gone: the file is sent from its beginning.
    case restarted
}
