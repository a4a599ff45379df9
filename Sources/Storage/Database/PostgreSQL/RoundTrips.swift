import Synchronization

/// The number of messages to a server for whose answers the program has waited.
final class RoundTrips: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    func note() { number.add(1, ordering: .relaxed) }
}
