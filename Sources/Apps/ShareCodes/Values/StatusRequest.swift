import Basics

/// A person's request for another person's status.
struct StatusRequest: Sendable, Hashable {
    /// The time in which it can be answered, and in which its answer can be read.
    static let lifetime = Duration.hours(24)
    /// The time after its end in which its row is kept without its contents.
    static let retention = Duration.days(30)

    /// The app's id of the request.
    let id: String
    /// The sender's umid.
    let sender: String
    /// The umid of the person who is asked.
    let addressee: String
    let message: String
}
