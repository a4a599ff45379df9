import Basics

/// The line of a terminal that shows a transfer: name, bar, percentage, bytes, rate, remaining time.
package enum ProgressLine {
    private static let barWidth = 12

    /// The smallest number of columns for a name.
    private static let leastName = 8

    /// - Parameters:
    ///   - prefix: the text before the name of a transfer that waits, which has no rate and no remaining time. It is not shortened,
    ///     and omitted if the terminal is too narrow for both.
    ///   - width: columns of the line. In a narrow terminal, first the bar is omitted, then the remaining time, the rate and the
    ///     bytes.
    static func text(
        _ name: String, _ meter: TransferMeter, prefix: String = "", at time: Duration, width: Int = 79
    ) -> String {
        // The words with the largest rank are omitted first.
        var words: [(rank: Int, text: String)] = []
        if let total = meter.total {
            let share = total > 0 ? min(1, max(0, Double(meter.done) / Double(total))) : 1
            let filled = Int(share * Double(barWidth))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled)
            words.append((4, "[\(bar)]"))
            let percent = String(Int(share * 100))
            words.append((0, String(repeating: " ", count: 3 - percent.count) + percent + "%"))
            words.append((1, "\(ByteCount.text(meter.done))/\(ByteCount.text(total))"))
        } else {
            words.append((1, ByteCount.text(meter.done)))
        }
        if prefix.isEmpty, let rate = meter.rate(at: time) { words.append((2, "\(ByteCount.text(rate))/s")) }
        if prefix.isEmpty, let left = meter.secondsLeft(at: time) { words.append((3, "\(clock(left)) left")) }
        let name = TextLayout.printable(name)
        let prefix = prefix.count + leastName + "  100%".count > width ? "" : prefix
        var rest = ""
        while true {
            rest = words.map { "  \($0.text)" }.joined()
            guard prefix.count + min(name.count, leastName) + rest.count > width, let least = words.map(\.rank).max()
            else { break }
            words.removeAll { $0.rank == least }
        }
        return prefix + clipped(name, to: max(1, width - prefix.count - rest.count)) + rest
    }

    /// `0:07`, `12:34`, `1:02:03`
    package static func clock(_ seconds: Int64) -> String {
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)") + ":\(padded(seconds % 60))"
    }

    /// Returns the name without its beginning if it is too long: its end distinguishes it better.
    private static func clipped(_ name: String, to width: Int) -> String {
        name.count <= width ? name : "…" + name.suffix(width - 1)
    }
}

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
