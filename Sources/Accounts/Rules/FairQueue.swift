/// A bounded queue in which owners take turns. If it is full, the owner with the most waiting elements loses one.
///
/// To keep another owner out, an attacker needs as many owners as the queue has places.
struct FairQueue<Element> {
    /// The largest number of waiting elements; above 0.
    let capacity: Int
    private(set) var count = 0
    private var waiting: [String: [Element]] = [:]
    /// The owners with waiting elements, the next one first.
    private var turns: [String] = []

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// - Returns: the element without a place: the last one of the owner with the most, or `element` itself; `nil` if there was a
    ///   free place.
    mutating func append(_ element: Element, of owner: String) -> Element? {
        var displaced: Element?
        if count >= capacity {
            let most = waiting.max { $0.value.count < $1.value.count }
            // Owners with equal numbers do not displace each other's elements.
            guard let most, most.value.count > (waiting[owner]?.count ?? 0) + 1 else { return element }
            displaced = waiting[most.key]?.popLast()
            count -= 1
        }
        if waiting[owner] == nil { turns.append(owner) }
        waiting[owner, default: []].append(element)
        count += 1
        return displaced
    }

    mutating func popFirst() -> Element? {
        guard let owner = turns.first, var elements = waiting[owner] else { return nil }
        turns.removeFirst()
        let element = elements.removeFirst()
        count -= 1
        waiting[owner] = elements.isEmpty ? nil : elements
        if !elements.isEmpty { turns.append(owner) }
        return element
    }
}
