package import Basics
package import Capability

/// The state of the clock, on which deletions by age depend.
package struct ClockMetrics: MetricSource {
    private let clockGuard: ClockGuard

    package init(clockGuard: ClockGuard) {
        self.clockGuard = clockGuard
    }

    package var families: [MetricFamily] {
        let status = clockGuard.status
        return [
            .gauge(
                "data_gateway_clock_step_seconds",
                "Seconds by which the clock has stepped since it was last confirmed; 0 if it is confirmed.",
                [([], Int(status.stepSeconds))]),
            .gauge(
                "data_gateway_deletions_paused",
                "1 if deletions by age are paused because the clock is not confirmed, else 0.",
                [([], status.isConfirmed ? 0 : 1)]),
        ]
    }
}
