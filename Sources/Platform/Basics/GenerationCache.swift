/// A bounded number of values, of which those in use stay.
///
/// Two generations: when the recent one is full it becomes the earlier one, and what is found there is recent again.
package struct GenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var recent: [Key: Value] = [:]
    @usableFromInline var earlier: [Key: Value] = [:]
    /// The size of one generation.
    @usableFromInline let capacity: Int

    /// - Parameter capacity: how many values are kept at most.
    @inlinable package init(capacity: Int) {
        self.capacity = capacity / 2
    }

    @inlinable package var count: Int { recent.count + earlier.count }

    @inlinable package mutating func find(_ key: Key) -> Value? {
        if let known = recent[key] { return known }
        guard let known = earlier.removeValue(forKey: key) else { return nil }
        keep(known, for: key)
        return known
    }

    @inlinable package mutating func keep(_ value: Value, for key: Key) {
        if recent.count >= capacity { (recent, earlier) = ([:], recent) }
        recent[key] = value
    }
}
