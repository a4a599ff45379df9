/// How long things took, counted in Prometheus' way: by upper bounds, each bucket for itself.
package struct Histogram: Sendable, Hashable {
    /// Upper bounds in seconds, as they are written: those of Prometheus' clients, and one below for what is answered from
    /// memory.
    package static let bounds = [
        "0.001", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10",
    ]
    private static let nanoseconds: [UInt64] = [
        1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// How many took no longer than the bound of the same place, and longer than the one before; the last has no bound.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Nanoseconds, in all.
    package private(set) var sum: UInt64 = 0

    package init() {}

    package var count: Int { counts.reduce(0, +) }

    package mutating func add(nanoseconds duration: UInt64) {
        // Not by `firstIndex`: a debug build would allocate for it, and the test that counts runs there.
        var place = 0
        while place < Self.nanoseconds.count, duration > Self.nanoseconds[place] { place += 1 }
        counts[place] += 1
        sum &+= duration
    }
}
