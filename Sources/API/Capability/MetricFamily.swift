package import RPC

/// The samples of one name, in Prometheus' model.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package struct Sample: Sendable {
        /// The suffix of the family's name, e.g. `_bucket`.
        package var suffix = ""
        package var labels: MetricLabels
        /// The value in Prometheus' text format.
        package var value: String
    }

    package let name: String
    package let kind: Kind
    /// The description, on one line.
    package let help: String
    package var samples: [Sample]
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

extension MetricFamily {
    /// Makes a family of one number of seconds, with fractions.
    package static func seconds(_ name: String, _ kind: Kind, _ help: String, _ value: Double) -> MetricFamily {
        MetricFamily(name: name, kind: kind, help: help, samples: [Sample(labels: [], value: "\(value)")])
    }

    /// Makes a family of durations in seconds, in cumulative buckets.
    package static func histogram(_ name: String, _ help: String, _ samples: [(MetricLabels, Histogram)])
        -> MetricFamily
    {
        MetricFamily(
            name: name, kind: .histogram, help: help,
            samples: samples.flatMap { labels, histogram in
                var below = 0
                let buckets = zip(Histogram.bounds + ["+Inf"], histogram.counts).map { bound, count in
                    below += count
                    return Sample(suffix: "_bucket", labels: labels + [("le", bound)], value: "\(below)")
                }
                return buckets + [
                    Sample(suffix: "_sum", labels: labels, value: "\(Double(histogram.sum) / 1e9)"),
                    Sample(suffix: "_count", labels: labels, value: "\(histogram.count)"),
                ]
            })
    }
}
