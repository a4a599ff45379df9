import Basics
package import DeviceClient
import Glibc

/// The directories that an agent watches, and the settings of its uploads.
package struct AgentConfiguration: Sendable {
    /// A directory whose files are uploaded.
    package struct Directory: Sendable {
        /// The absolute path.
        package var path: String
        package var filter = FileFilter()
        package var isRecursive = true
        package var tags = TagTemplates()
        /// The priority of its files; higher ones are uploaded first.
        package var priority: Int64 = 0
        /// The time for which a file must be unchanged before it is uploaded.
        package var settling = Duration.seconds(10)
        package var afterUpload = AfterUpload.keep
    }

    /// The treatment of a confirmed file.
    package enum AfterUpload: String, Sendable, CaseIterable {
        case keep
        case delete
        /// Deleted, oldest first, when the free space is below the minimum.
        case deleteWhenFull = "delete_when_full"
    }

    package var directories: [Directory] = []
    package var rates = RatePlan()
    /// The minimum free space on the file system of each directory, in bytes; 0 = not checked.
    package var minimumFree: Int64 = 0
    /// The number of files uploaded at once.
    package var files = 2
    /// The number of parts of each file sent at once.
    package var parts = 1
    /// The interval for reading the directories again, in case notifications were lost.
    package var rescan = Duration.seconds(600)
    /// A file of metrics for node_exporter's textfile collector; `nil` = none.
    package var metricsFile: String?

    package init() {}

    /// Whether the file at `path` is `metricsFile`, or the one that takes its place in a moment.
    func isMetricsFile(_ path: String) -> Bool {
        guard let metricsFile else { return false }
        let name = Path.name(of: metricsFile)
        guard [name, AgentFolder.freshPath(name)].contains(Path.name(of: path)),
            let folder = DirectoryIdentity(Path.folder(of: path))
        else { return false }
        return folder == DirectoryIdentity(Path.folder(of: metricsFile))
    }

    /// The agent's own files that are in its directories, where it leaves them out: a sentence without a full stop each.
    package func overlaps(with deviceFolder: DeviceFolder) -> [String] {
        directories.flatMap { directory in
            let own = DirectoryIdentity(directory.path)
            var overlaps: [String] = []
            if own?.contains(deviceFolder.path) == true {
                overlaps.append("\(directory.path) has the device's folder \(deviceFolder.path), which is not uploaded")
            }
            if let metricsFile, own?.contains(Path.folder(of: metricsFile)) == true {
                overlaps.append("\(directory.path) has the metrics_file \(metricsFile), which is not uploaded")
            }
            return overlaps
        }
    }
}

/// The rate limits of an agent by the time of day on the machine's clock.
package struct RatePlan: Sendable, Hashable {
    /// A part of each day. If its end is not after its beginning, it extends past midnight.
    package struct Window: Sendable, Hashable {
        /// The beginning and end, in minutes since midnight.
        package let start: Int
        package let end: Int
        /// Bytes per second; 0 = nothing is sent, `nil` = unlimited.
        package let rate: Int64?

        package init(start: Int, end: Int, rate: Int64?) {
            self.start = start
            self.end = end
            self.rate = rate
        }

        func contains(_ minute: Int) -> Bool {
            start < end ? (start..<end).contains(minute) : minute >= start || minute < end
        }
    }

    /// The windows; the first that contains the time applies.
    package var windows: [Window] = []
    /// The limit outside of the windows, in bytes per second; 0 = nothing is sent, `nil` = unlimited.
    package var standard: Int64?

    package init() {}

    /// - Parameter minute: minutes since midnight.
    package func rate(atMinute minute: Int) -> Int64? {
        windows.first { $0.contains(minute) }.map(\.rate) ?? standard
    }

    /// Whether the limit is always the same.
    var isConstant: Bool { windows.isEmpty }

    /// Returns the minutes since midnight on the machine's clock, in its time zone.
    package static func currentMinute() -> Int {
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// Returns the minutes since midnight for e.g. `08:30`; `24:00` is the end of the day.
    package static func minute(of text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = UInt8(parts[0]),
            let minute = UInt8(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
        else { return nil }
        return Int(hour) * 60 + Int(minute)
    }
}
