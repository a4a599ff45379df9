package import Basics
package import Capability
import Glibc

/// The system's metrics of this process, with the names of Prometheus' clients.
package struct ProcessMetrics: MetricSource {
    private let pageSize = sysconf(Int32(_SC_PAGESIZE))
    private let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
    /// The boot time in Unix time. Computed from the clocks, because a sandboxed service sees no more than its own process in
    /// /proc.
    private let bootTime = Self.seconds(of: CLOCK_REALTIME) - Self.seconds(of: CLOCK_BOOTTIME)

    /// The largest number of descriptors that the process may have open.
    package static var maxDescriptors: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    package init() {}

    package var families: [MetricFamily] {
        // proc(5): the fields are numbered from 3 after the name, which may contain spaces and ends with the last parenthesis.
        guard let stat = text("/proc/self/stat"), let name = stat.lastIndex(of: ")") else { return [] }
        let fields = [0, 0, 0] + stat[stat.index(after: name)...].split(separator: " ").map { Int($0) ?? 0 }
        guard fields.count > 24 else { return [] }
        let descriptors = try? FolderListing.names(in: "/proc/self/fd").count
        return [
            seconds(
                "process_cpu_seconds_total", .counter, "CPU time (user and system) in seconds.",
                ticks: fields[14] + fields[15]),
            .gauge("process_resident_memory_bytes", "Resident memory in bytes.", [([], fields[24] * pageSize)]),
            .gauge("process_virtual_memory_bytes", "Virtual memory in bytes.", [([], fields[23])]),
            .gauge("process_threads", "Threads.", [([], fields[20])]),
            .gauge("process_open_fds", "Open file descriptors.", descriptors.map { [([], $0)] } ?? []),
            .gauge("process_max_fds", "Maximum number of open file descriptors.", [([], Self.maxDescriptors)]),
            seconds(
                "process_start_time_seconds", .gauge, "Unix time in seconds when the process started.",
                ticks: fields[22], from: bootTime),
        ]
    }

    private func seconds(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, ticks: Int, from start: Double = 0
    ) -> MetricFamily {
        .seconds(name, kind, help, start + Double(ticks) / ticksPerSecond)
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var now = timespec()
        clock_gettime(clock, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    private func text(_ path: String) -> String? {
        (try? PrivateFile.contents(of: path)).map { String(decoding: $0, as: UTF8.self) }
    }
}

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
