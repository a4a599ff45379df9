/// The samples of one name, in Prometheus' model.
package struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    struct Sample: Sendable {
        /// The suffix of the family's name, e.g. `_bucket`.
        var suffix = ""
        var labels: MetricLabels
        /// The value in Prometheus' text format.
        var value: String
    }

    let name: String
    let kind: Kind
    /// The description, on one line.
    let help: String
    var samples: [Sample]
}

package typealias MetricLabels = [(name: String, value: String)]

extension MetricFamily {
    package static func counter(_ name: String, _ help: String, _ samples: [(MetricLabels, Int)]) -> MetricFamily {
        MetricFamily(
            name: name, kind: .counter, help: help, samples: samples.map { Sample(labels: $0, value: "\($1)") })
    }

    package static func gauge(_ name: String, _ help: String, _ samples: [(MetricLabels, Int)]) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, samples: samples.map { Sample(labels: $0, value: "\($1)") })
    }
}

/// A part of the gateway that counts something for operators.
package protocol MetricSource: Sendable {
    var families: [MetricFamily] { get }
}
