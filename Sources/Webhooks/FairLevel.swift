/// The level at which demands are cut so that they fit into a capacity: whoever demands less keeps all, and the others keep the same.
enum FairLevel {
    /// Returns the largest level for which the sum of all demands, each at most the level, is at most `capacity`.
    static func level(of demands: some Sequence<Int64>, in capacity: Int64) -> Int64 {
        var rest = capacity
        let ascending = demands.sorted()
        for (index, demand) in ascending.enumerated() {
            let share = rest / Int64(ascending.count - index)
            guard demand <= share else { return share }
            rest -= demand
        }
        return .max
    }
}
