/// What a handler says of a request, as it finds it out.
///
/// Sendable although it has state: that is touched on the thread of the request's connection only.
package final class HTTPRequestNotes: @unchecked Sendable {  // used by its connection's thread alone
    /// The request is a call of a `RPCServer`, where it is counted and logged.
    package var isCall = false
    /// What was asked for, as one of a few words, e.g. `UploadPart`.
    package var operation: String?
    /// In which protocol on top of HTTP, e.g. `oss`.
    package var dialect: String?
    /// The caller's name in the log.
    package var principal: String?
    /// What it was about, e.g. `uploads/ID`.
    package var target: String?
}
