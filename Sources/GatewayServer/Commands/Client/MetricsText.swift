/// The samples of a page of metrics in the text format of Prometheus.
struct MetricsText {
    private var samples: [(name: String, labels: String, value: Double)] = []

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            let series = line[..<space]
            let brace = series.firstIndex(of: "{") ?? series.endIndex
            samples.append((String(series[..<brace]), String(series[brace...]), value))
        }
    }

    /// The sum of a metric's samples; `nil` where it has none.
    func sum(_ name: String) -> Double? {
        let values = samples.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.reduce(0, +)
    }

    /// The value of a label that a metric's first sample has.
    func label(_ label: String, of name: String) -> String? {
        guard let labels = samples.first(where: { $0.name == name })?.labels,
            let start = labels.firstRange(of: "\(label)=\"")?.upperBound,
            let end = labels[start...].firstIndex(of: "\"")
        else { return nil }
        return String(labels[start..<end])
    }
}
