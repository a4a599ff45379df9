import Basics
import DeviceClient

/// What an agent watches, and how it uploads.
package struct AgentConfiguration: Sendable {
    /// A directory whose files are uploaded.
    package struct Directory: Sendable {
        /// Absolute.
        package var path: String
        package var filter = FileFilter()
        package var isRecursive = true
        package var tags = TagTemplates()
        /// The files of the greater number go first.
        package var priority: Int64 = 0
        /// How long a file must stay as it is before it is uploaded.
        package var settling = Duration.seconds(10)
        package var afterUpload = AfterUpload.keep
    }

    /// What becomes of a file that arrived.
    package enum AfterUpload: String, Sendable, CaseIterable {
        case keep
        case delete
        /// Deleted, the oldest first, when the free space is below the minimum.
        case deleteWhenFull = "delete_when_full"
    }

    package var directories: [Directory] = []
    package var rates = RatePlan()
    /// Bytes that are to be free on the file system of each directory; 0 = the agent does not look.
    package var minimumFree: Int64 = 0
    /// Files that are uploaded at once.
    package var files = 2
    /// Parts of each that are sent at once.
    package var parts = 1
    /// How often the directories are read again, for what no notification told.
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
