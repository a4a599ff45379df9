/// The progress of a request for a status.
enum StatusRequestState: String, Sendable {
    case pending
    /// The addressee's app has received it.
    case delivered
    case accepted
    case declined
    /// Nobody answered it in time.
    case expired

    var isAnswer: Bool { self == .accepted || self == .declined }
}
