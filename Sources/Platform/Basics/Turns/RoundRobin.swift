/// Turns of owners that cost the same each: the one whose last turn is longest ago is next.
package struct RoundRobin<Owner: Hashable & Sendable>: Sendable {
    /// The number of each owner's last turn.
    private var last: [Owner: Int] = [:]
    private var count = 0

    package init() {}

    /// Returns the owners in the order of their next turns. Owners without a turn so far are first, in the given order.
    package func order(_ owners: [Owner]) -> [Owner] {
        owners.enumerated().sorted { first, second in
            (last[first.element, default: 0], first.offset) < (last[second.element, default: 0], second.offset)
        }.map(\.element)
    }

    /// Records that it was an owner's turn.
    package mutating func take(_ owner: Owner) {
        count += 1
        last[owner] = count
    }
}
