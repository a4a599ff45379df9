/// What somebody who watches an upload may want to know.
package enum UploadNotice: Sendable {
    /// - Parameter acknowledged: bytes that the store has already.
    case began(UploadState, acknowledged: Int64)
    /// So many bytes count now, after the store was asked.
    case standing(acknowledged: Int64, size: Int64)
    /// So many bytes more are on their way, or fewer: those of a part that broke off count no more.
    case moved(bytes: Int64)
    /// The store acknowledged a part.
    case acknowledged(part: Int, bytes: Int64)
    /// Something failed that may pass.
    case waiting(what: String, reason: any Error, delay: Duration)
    /// What was stored is gone: the file is sent from its beginning.
    case restarted
}
