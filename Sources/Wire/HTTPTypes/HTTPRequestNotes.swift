package import Basics

/// A handler's notes on a request for log and metrics.
///
/// Sendable although it is mutable: only the thread of the request's connection uses it.
package final class HTTPRequestNotes: @unchecked Sendable {  // used by its connection's thread alone
    /// Whether the request is a call of an `RPCServer`, which counts and logs it itself.
    package var isCall = false
    /// The operation, one of a small set of words, e.g. `UploadPart`.
    package var operation: String?
    /// The protocol on top of HTTP, e.g. `oss`.
    package var dialect: String?
    /// The caller's name in the log.
    package var principal: String?
    /// The target of the operation, e.g. `uploads/ID`.
    package var target: String?
    /// The object that a copy is made of, `BUCKET/KEY`.
    package var source: String?
    /// Waits until the server may work for a party; see ``works(for:)``.
    package var onOwner: ((WorkOwner) -> Void)?

    /// Notes that the caller is known: from now on the request counts for them instead of their address, and may have to wait.
    package func works(for owner: WorkOwner) { onOwner?(owner) }
}
