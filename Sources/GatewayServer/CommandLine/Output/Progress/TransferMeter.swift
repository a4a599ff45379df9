/// How far a transfer is, how fast it has been of late, and how long it will take. Pure: the time comes in.
struct TransferMeter: Sendable {
    /// Over how long the rate is taken.
    private static let window = Duration.seconds(10)
    /// A rate over less than this is a guess.
    private static let minimum = Duration.milliseconds(500)

    /// `nil` where it is not known yet.
    var total: Int64?
    private(set) var done: Int64
    private var samples: [(time: Duration, done: Int64)]

    /// - Parameters:
    ///   - done: bytes that were there before.
    ///   - time: now; every other time counts from the same beginning.
    init(total: Int64?, done: Int64 = 0, at time: Duration) {
        self.total = total
        self.done = done
        samples = [(time, done)]
    }

    mutating func set(_ bytes: Int64, at time: Duration) {
        done = bytes
        // One sample for each twentieth of a window, and one from before it.
        if let last = samples.last, samples.count > 1, time - last.time < Self.window / 20 {
            samples[samples.count - 1].done = done
        } else {
            samples.append((time, done))
        }
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
    }

    mutating func add(_ bytes: Int64, at time: Duration) { set(done + bytes, at: time) }

    /// Bytes a second, `nil` where nothing can be said yet. It falls while nothing moves.
    func rate(at time: Duration) -> Double? {
        guard let first = samples.first else { return nil }
        let elapsed = time - first.time
        guard elapsed >= Self.minimum else { return nil }
        return max(0, Double(done - first.done)) / (elapsed / .seconds(1))
    }

    /// Whole seconds, `nil` where nothing can be said.
    func secondsLeft(at time: Duration) -> Int64? {
        guard let total, let rate = rate(at: time), rate >= 1 else { return nil }
        return Int64(exactly: (Double(max(0, total - done)) / rate).rounded(.up))
    }
}
