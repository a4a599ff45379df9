import Basics

/// Whether what deletes believes the clock.
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
                "How far the clock is from where it was when it was last confirmed; 0 where it is.",
                [([], Int(status.step))]),
            .gauge(
                "data_gateway_deletions_paused",
                "Whether nothing is deleted for its age because the clock is not confirmed: 1 or 0.",
                [([], status.isConfirmed ? 0 : 1)]),
        ]
    }
}
