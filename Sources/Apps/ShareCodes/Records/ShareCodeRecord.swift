import Basics

/// A row of a code.
struct ShareCodeRecord: Sendable, Hashable {
    /// The code in upper case.
    let key: String
    let umid: String
    /// The encrypted data; `nil` after the end.
    let sealed: [UInt8]?
    let minutes: Int
    let createdAt: UnixTime
    let expiresAt: UnixTime
    /// The time from which somebody else may register the code.
    let freeAt: UnixTime

    /// Whether the code can be looked up.
    func isLive(at now: UnixTime) -> Bool { sealed != nil && now < expiresAt }
}
