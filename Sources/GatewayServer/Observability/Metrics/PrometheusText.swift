package import Capability

/// Metrics in Prometheus' text format (version 0.0.4).
package enum PrometheusText {
    package static let mediaType = "text/plain; version=0.0.4"

    package static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += "\(family.name)\(sample.suffix)\(Self.text(sample.labels)) \(sample.value)\n"
            }
        }
        return text
    }

    private static func text(_ labels: MetricLabels) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
