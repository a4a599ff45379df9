import Basics

/// An object that a session's pages may read.
struct ContentGrant: Sendable {
    let fileID: String
    /// The organization for which a system administrator acts; `nil` = the user's own.
    let organization: String?
    /// The presigned request to the object store, and the time at which it has to be renewed.
    var access: StoreAddress
    var renewAt: UnixTime
}

/// The types under which the console shows an object, whatever its uploader declared: none of them can run scripts.
enum ShownType {
    private static let safe: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "video/mp4", "video/webm",
        "video/ogg", "video/quicktime", "audio/mpeg", "audio/ogg", "audio/wav", "audio/x-wav", "audio/flac",
        "audio/mp4", "audio/aac", "audio/webm", "application/pdf",
    ]

    static func shown(_ declared: String) -> String {
        let type = declared.prefix { $0 != ";" && $0 != " " }.lowercased()
        return safe.contains(type) ? type : "application/octet-stream"
    }
}
