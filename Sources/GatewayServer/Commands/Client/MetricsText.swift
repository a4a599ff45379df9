/// The samples of a metrics page in the text format of Prometheus.
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

    /// Returns the sum of a metric's samples; `nil` if it has none.
    func sum(_ name: String) -> Double? {
        let values = samples.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.reduce(0, +)
    }

    /// Returns the lowest value of a metric's samples; `nil` if it has none.
    func minimum(_ name: String) -> Double? {
        samples.filter { $0.name == name }.map(\.value).min()
    }

    /// Returns the value of a label of a metric's first sample.
    func label(_ label: String, of name: String) -> String? {
        samples.first { $0.name == name }.flatMap { Self.labels($0.labels)[label] }
    }

    /// Returns the labels of each sample of a metric.
    func labels(of name: String) -> [[String: String]] {
        samples.filter { $0.name == name }.map { Self.labels($0.labels) }
    }

    /// Reads `{name="value",…}`; the gateway's values contain no quotes.
    private static func labels(_ text: String) -> [String: String] {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        var labels: [String: String] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let name = parts[index].filter { !"{,=".contains($0) }
            labels[name] = String(parts[index + 1])
        }
        return labels
    }
}
