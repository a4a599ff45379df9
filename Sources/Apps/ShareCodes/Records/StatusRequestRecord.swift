import Basics

/// A row of a request for a status.
struct StatusRequestRecord: Sendable, Hashable {
    let position: Int64
    let id: String
    let sender: String
    let addressee: String
    /// The encrypted message; `nil` after the end.
    let message: [UInt8]?
    /// The state without regard to the time.
    let storedState: StatusRequestState
    /// The encrypted data of the answer; `nil` before the answer, for an answer without data, and after the end.
    let answer: [UInt8]?
    let createdAt: UnixTime
    let expiresAt: UnixTime

    func state(at now: UnixTime) -> StatusRequestState {
        storedState.isAnswer || now < expiresAt ? storedState : .expired
    }
}
