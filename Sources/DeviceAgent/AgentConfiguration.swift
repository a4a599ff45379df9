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
}
