/// A notification about the progress of an upload.
package enum UploadNotice: Sendable {
    /// - Parameter acknowledged: the bytes that the store already has.
    case began(UploadState, acknowledged: Int64)
    /// A continued upload keeps these tags, which are not those that were given now; without those of the device.
    case tagsKept([String: String])
    /// The bytes that the store has, after it was asked.
    case position(acknowledged: Int64, size: Int64)
    /// The bytes sent since the last notice; negative if a part failed and its bytes no longer count.
    case moved(bytes: Int64)
    /// The store acknowledged a part.
    case acknowledged(part: Int, bytes: Int64)
    /// A temporary error; the step is retried after the delay.
    case waiting(what: String, reason: any Error, delay: Duration)
    /// The address of the gateway changed, or an announced one is not used: a sentence without a full stop.
    case addressChanged(String)
    /// The device's key was replaced, or is not replaced yet: a sentence without a full stop.
    case keyChanged(String)
    /// The stored parts are lost: the file is sent again from its beginning.
    case restarted
}
