/// A queue whose ends cost the same however long it is.
package struct FIFOQueue<Element> {
    private var elements: [Element?] = []
    /// The number of elements at the front that were taken.
    private var taken = 0

    package init() {}

    package var isEmpty: Bool { taken == elements.count }

    package var count: Int { elements.count - taken }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard taken < elements.count else { return nil }
        let element = elements[taken].take()
        taken += 1
        if taken == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 256)
            taken = 0
        } else if taken >= 256, 2 * taken >= elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return element
    }

    package mutating func removeAll() {
        elements.removeAll()
        taken = 0
    }
}
