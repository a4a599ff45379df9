package import Basics

/// The naming of objects: the client's hint at the beginning of the upload, else the tag that deployed SDKs send with
/// CompleteUpload, else a name made from the owner and the time.
package enum ObjectNaming {
    /// - Parameters:
    ///   - hint: `client_hints["file_name"]`.
    ///   - createdAt: the beginning of the upload.
    package static func name(
        hint: FileName?, tags: [String: String], owner: ObjectOwner, createdAt: UnixTime
    ) -> FileName {
        hint ?? tags[FileName.tagKey].flatMap { FileName($0) } ?? fallback(owner, createdAt)
    }

    private static func fallback(_ owner: ObjectOwner, _ createdAt: UnixTime) -> FileName {
        let time = CivilTime(createdAt)
        let source = owner.deviceID ?? "site-\(owner.siteID)"
        let clock = time.clock().replacing(":", with: "-")
        return FileName(verbatim: "\(source)_\(time.date())T\(clock)Z")
    }
}
