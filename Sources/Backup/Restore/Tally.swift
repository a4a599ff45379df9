/// A number of items, and the first of them.
package struct Tally: Sendable, Equatable {
    private static let kept = 100

    package private(set) var count = 0
    /// The first items, at most 100.
    package private(set) var first: [String] = []

    package init() {}

    package mutating func add(_ item: String) {
        count += 1
        if first.count < Self.kept { first.append(item) }
    }
}
