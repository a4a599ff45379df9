/// The progress of a request for a status.
enum StatusRequestState: String, Sendable {
    case pending
    /// The addressee's app has received it.
    case delivered
    case accepted
    case declined
    /// The time for an answer is over.
    case expired

    var isAnswer: Bool { self == .accepted || self == .declined }
}
