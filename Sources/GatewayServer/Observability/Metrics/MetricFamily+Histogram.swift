import RPC

extension MetricFamily {
    /// Makes a family of durations in seconds, in cumulative buckets.
    static func histogram(_ name: String, _ help: String, _ samples: [(MetricLabels, Histogram)]) -> MetricFamily {
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
