/// A queue whose ends cost the same however long it is.
package struct FIFOQueue<Element> {
    /// The first elements, in reverse order.
    private var front: [Element] = []
    /// The others.
    private var back: [Element] = []

    package init() {}

    package var isEmpty: Bool { front.isEmpty && back.isEmpty }

    package var count: Int { front.count + back.count }

    package mutating func append(_ element: Element) { back.append(element) }

    package mutating func popFirst() -> Element? {
        if front.isEmpty {
            swap(&front, &back)
            front.reverse()
        }
        return front.popLast()
    }
}
