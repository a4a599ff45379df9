/// An error with which a service ended by itself.
struct ServiceFailure: Error, CustomStringConvertible {
    let service: String
    let error: any Error

    var description: String { "the service '\(service)' ended: \(error)" }
}
