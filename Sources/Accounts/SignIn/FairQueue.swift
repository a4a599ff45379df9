/// A bounded queue in which owners take turns. If it is full, the owner with the most waiting elements loses one.
///
/// An owner is a path, such as an organization and an address: organizations take turns, and within one its addresses. To keep
/// another owner out, an attacker needs as many owners of the first level as the queue has places.
struct FairQueue<Element> {
    /// The elements of one owner, or of all owners below it.
    private struct Node {
        var count = 0
        /// The owner's own elements; empty unless it is at the end of a path.
        var elements: [Element] = []
        var parts: [String: Node] = [:]
        /// The parts with waiting elements, the next one first.
        var turns: [String] = []

        mutating func append(_ element: Element, of path: ArraySlice<String>) {
            count += 1
            guard let part = path.first else { return elements.append(element) }
            if parts[part] == nil { turns.append(part) }
            parts[part, default: Node()].append(element, of: path.dropFirst())
        }

        mutating func popFirst() -> Element? {
            guard count > 0 else { return nil }
            count -= 1
            guard let part = turns.first else { return elements.removeFirst() }
            turns.removeFirst()
            let element = parts[part]?.popFirst()
            if parts[part]?.count == 0 { parts[part] = nil } else { turns.append(part) }
            return element
        }

        /// Removes the last element of the owner with the most, if that has more than the one at `path` would have then.
        mutating func displace(for path: ArraySlice<String>) -> Element? {
            guard let part = path.first else { return nil }
            let own = parts[part]?.count ?? 0
            // Owners with equal numbers do not displace each other's elements.
            if let most = parts.max(by: { $0.value.count < $1.value.count }), most.value.count > own + 1 {
                return remove(from: most.key) { $0.removeLast() }
            }
            return remove(from: part) { $0.displace(for: path.dropFirst()) }
        }

        private mutating func removeLast() -> Element? {
            if let most = parts.max(by: { $0.value.count < $1.value.count }) {
                return remove(from: most.key) { $0.removeLast() }
            }
            count -= 1
            return elements.popLast()
        }

        private mutating func remove(from part: String, _ body: (inout Node) -> Element?) -> Element? {
            guard var node = parts[part], let element = body(&node) else { return nil }
            count -= 1
            parts[part] = node.count > 0 ? node : nil
            if node.count == 0 { turns.removeAll { $0 == part } }
            return element
        }
    }

    /// The largest number of waiting elements; above 0.
    let capacity: Int
    private var root = Node()

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { root.count }

    /// - Parameter owner: its path, from the first level on. All paths have the same length.
    /// - Returns: the element without a place: the last one of the owner with the most, or `element` itself; `nil` if there was a
    ///   free place.
    mutating func append(_ element: Element, of owner: [String]) -> Element? {
        var displaced: Element?
        if count >= capacity {
            displaced = root.displace(for: owner[...])
            guard displaced != nil else { return element }
        }
        root.append(element, of: owner[...])
        return displaced
    }

    mutating func popFirst() -> Element? { root.popFirst() }
}
