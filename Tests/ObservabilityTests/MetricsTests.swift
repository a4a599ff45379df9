import Basics
import Capability
import RPC
import TestSupport
import Testing

@testable import Catalog
@testable import CopyJobs
@testable import Observability
@testable import Webhooks

@Suite(.timeLimited) struct MetricsTests {
    @Test func metricsAreRenderedAsPrometheusText() {
        var durations = Histogram()
        for milliseconds in [1, 2, 30, 20_000] as [UInt64] { durations.add(nanoseconds: milliseconds * 1_000_000) }
        let text = PrometheusText.render([
            .counter("a_total", "What.", [([], 1), ([("x", "a\"b\\c\nd"), ("y", "z")], 2)]),
            .gauge("nothing", "Left out.", []),
            .histogram("h_seconds", "How long.", [([("x", "y")], durations)]),
        ])
        #expect(
            text == """
                # HELP a_total What.
                # TYPE a_total counter
                a_total 1
                a_total{x="a\\"b\\\\c\\nd",y="z"} 2
                # HELP h_seconds How long.
                # TYPE h_seconds histogram
                h_seconds_bucket{x="y",le="0.001"} 1
                h_seconds_bucket{x="y",le="0.005"} 2
                h_seconds_bucket{x="y",le="0.01"} 2
                h_seconds_bucket{x="y",le="0.025"} 2
                h_seconds_bucket{x="y",le="0.05"} 3
                h_seconds_bucket{x="y",le="0.1"} 3
                h_seconds_bucket{x="y",le="0.25"} 3
                h_seconds_bucket{x="y",le="0.5"} 3
                h_seconds_bucket{x="y",le="1"} 3
                h_seconds_bucket{x="y",le="2.5"} 3
                h_seconds_bucket{x="y",le="5"} 3
                h_seconds_bucket{x="y",le="10"} 3
                h_seconds_bucket{x="y",le="+Inf"} 4
                h_seconds_sum{x="y"} 20.033
                h_seconds_count{x="y"} 4

                """)
    }

    @Test func limitsThatAllListenersShareAreOnThePage() {
        let limits = LimitCounts()
        for name in ["b", "a", "b"] { limits.reached(name) }
        let text = PrometheusText.render(ListenerMetrics(listeners: [], shared: limits).families)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("data_gateway_limits_reached_total") }
        #expect(
            lines == [
                #"data_gateway_limits_reached_total{listener="all",limit="a"} 1"#,
                #"data_gateway_limits_reached_total{listener="all",limit="b"} 2"#,
            ])
    }

    @Test func aBoundOfAHistogramIsWithin() {
        var histogram = Histogram()
        histogram.add(nanoseconds: 1_000_000)
        histogram.add(nanoseconds: 1_000_001)
        #expect(histogram.counts.prefix(3) == [1, 1, 0])
        #expect(Histogram.bounds.count + 1 == histogram.counts.count)
    }

    @Test func metricsThatCannotBeReadAreAbsentFromThePage() {
        var copies = CopyMetrics.Counts()
        var events = EventMetrics.Counts()
        var scrub = ScrubMetrics.Counts()
        func page() -> String {
            PrometheusText.render(copies.families + EventMetrics.families([("a", events)]) + scrub.families)
        }
        let read = [
            "data_gateway_copy_jobs{", "data_gateway_copy_items{", "data_gateway_events_pending{",
            "data_gateway_events_dead{", "data_gateway_events_oldest_pending_seconds{", "data_gateway_bad_objects ",
        ]
        let unread = page()
        for name in read { #expect(!unread.contains(name), "\(name)") }
        for name in ["data_gateway_copy_jobs_total{", "data_gateway_events_delivered_total{"] {
            #expect(unread.contains(name), "\(name)")
        }
        copies.unfinished = CopyMetrics.Unfinished()
        events.queue = EventMetrics.Queue(pending: 0, dead: 0, oldestPendingSeconds: 0)
        scrub.bad = 0
        let known = page()
        for name in read { #expect(known.contains(name), "\(name)") }
    }

    @Test func processMetricsHavePlausibleValues() throws {
        let families = ProcessMetrics().families
        let values = Dictionary(uniqueKeysWithValues: families.map { ($0.name, Double($0.samples[0].value) ?? -1) })
        #expect(values.count == 7)
        #expect(try #require(values["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(values["process_open_fds"]) > 2)
        #expect(try #require(values["process_start_time_seconds"]) > 1_700_000_000)
        #expect(try #require(values["process_threads"]) >= 1)
    }
}
