/// A queue whose ends cost the same however long it is.
///
/// Public and inlinable, because the event loops use it for each call: the compiler does not specialize generic types of other access
/// levels in other modules, and one that is not specialized costs some ten thousand instructions a call.
public struct FIFOQueue<Element> {
    /// The first elements, in reverse order.
    @usableFromInline var front: [Element] = []
    /// The others.
    @usableFromInline var back: [Element] = []

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { front.isEmpty && back.isEmpty }

    @inlinable public var count: Int { front.count + back.count }

    @inlinable public mutating func append(_ element: Element) { back.append(element) }

    @inlinable public mutating func popFirst() -> Element? {
        if front.isEmpty {
            if back.count < 2 { return back.popLast() }
            swap(&front, &back)
            front.reverse()
        }
        return front.popLast()
    }
}

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
