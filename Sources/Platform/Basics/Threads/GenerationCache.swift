/// A bounded cache that keeps the values in use.
///
/// It has two generations: when the recent one is full it becomes the earlier one, and a value that is found in the earlier one
/// moves to the recent one.
///
/// Public and inlinable for the same reason as ``FIFOQueue``.
public struct GenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var recent: [Key: Value] = [:]
    @usableFromInline var earlier: [Key: Value] = [:]
    /// The size of one generation.
    @usableFromInline let capacity: Int

    /// - Parameter capacity: the largest number of values.
    @inlinable public init(capacity: Int) {
        self.capacity = capacity / 2
    }

    @inlinable public var count: Int { recent.count + earlier.count }

    @inlinable public mutating func find(_ key: Key) -> Value? {
        if let known = recent[key] { return known }
        guard let known = earlier.removeValue(forKey: key) else { return nil }
        keep(known, for: key)
        return known
    }

    @inlinable public mutating func keep(_ value: Value, for key: Key) {
        if recent.count >= capacity { (recent, earlier) = ([:], recent) }
        recent[key] = value
    }
}
