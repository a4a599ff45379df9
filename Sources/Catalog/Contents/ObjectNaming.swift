import Basics

/// How an object gets its name: from what the client said when the upload began, else from the tag that deployed SDKs send
/// with CompleteUpload, else from who uploaded it and when.
package enum ObjectNaming {
    /// - Parameters:
    ///   - hint: `client_hints["file_name"]`.
    ///   - createdAt: when the upload began.
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
