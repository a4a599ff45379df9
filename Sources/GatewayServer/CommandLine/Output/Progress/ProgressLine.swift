/// A transfer on one line of a terminal: name, bar, share, bytes, rate, time left.
package enum ProgressLine {
    private static let barWidth = 12

    static func text(_ name: String, _ meter: TransferMeter, at time: Duration, width: Int = 79) -> String {
        var words: [String] = []
        if let total = meter.total {
            let share = total > 0 ? min(1, max(0, Double(meter.done) / Double(total))) : 1
            let filled = Int(share * Double(barWidth))
            words.append(
                "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: barWidth - filled) + "]")
            let percent = String(Int(share * 100))
            words.append(String(repeating: " ", count: 3 - percent.count) + percent + "%")
            words.append("\(ByteCount.text(meter.done))/\(ByteCount.text(total))")
        } else {
            words.append(ByteCount.text(meter.done))
        }
        if let rate = meter.rate(at: time) { words.append("\(ByteCount.text(rate))/s") }
        if let left = meter.secondsLeft(at: time) { words.append("\(clock(left)) left") }
        let rest = "  " + words.joined(separator: "  ")
        return clipped(TextLayout.printable(name), to: max(8, width - rest.count)) + rest
    }

    /// `0:07`, `12:34`, `1:02:03`
    package static func clock(_ seconds: Int64) -> String {
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)") + ":\(padded(seconds % 60))"
    }

    /// The end of a name tells more than its beginning.
    private static func clipped(_ name: String, to width: Int) -> String {
        name.count <= width ? name : "…" + name.suffix(width - 1)
    }
}
