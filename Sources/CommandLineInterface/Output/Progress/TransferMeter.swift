/// The progress of a transfer, its recent rate, and its remaining time. A pure function of the passed times.
struct TransferMeter: Sendable {
    /// The period over which the rate is measured.
    private static let window = Duration.seconds(10)
    /// The shortest period from which a rate is computed.
    private static let minimum = Duration.milliseconds(500)

    /// The size in bytes; `nil` if not known yet.
    var total: Int64?
    private(set) var done: Int64
    private var samples: [(time: Duration, done: Int64)]

    /// - Parameters:
    ///   - done: the bytes that were already present.
    ///   - time: the current time; all times count from the same origin.
    init(total: Int64?, done: Int64 = 0, at time: Duration) {
        self.total = total
        self.done = done
        samples = [(time, done)]
    }

    mutating func set(_ bytes: Int64, at time: Duration) {
        done = bytes
        // One sample for each twentieth of the period, and one from before it.
        if let last = samples.last, samples.count > 1, time - last.time < Self.window / 20 {
            samples[samples.count - 1].done = done
        } else {
            samples.append((time, done))
        }
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
    }

    mutating func add(_ bytes: Int64, at time: Duration) { set(done + bytes, at: time) }

    /// Returns bytes per second; `nil` if not known yet. It decreases while nothing is transferred.
    func rate(at time: Duration) -> Double? {
        guard let first = samples.first else { return nil }
        let elapsed = time - first.time
        guard elapsed >= Self.minimum else { return nil }
        return max(0, Double(done - first.done)) / (elapsed / .seconds(1))
    }

    /// Returns the remaining time in whole seconds; `nil` if not known.
    func secondsLeft(at time: Duration) -> Int64? {
        guard let total, let rate = rate(at: time), rate >= 1 else { return nil }
        return Int64(exactly: (Double(max(0, total - done)) / rate).rounded(.up))
    }
}
