package import Basics
import FoundationEssentials
import Glibc

/// The status of an agent: the content of `agent/status.json` in the device's folder.
package struct AgentStatus: Codable, Sendable, Hashable {
    package struct Uploading: Codable, Sendable, Hashable {
        package var file: String
        package var doneBytes: Int64
        package var sizeBytes: Int64
        /// The failure of the step that is tried again at present.
        package var message: String?

        enum CodingKeys: String, CodingKey {
            case file, message
            case doneBytes = "done_bytes"
            case sizeBytes = "size_bytes"
        }
    }

    package struct Failure: Codable, Sendable, Hashable {
        package var file: String
        package var message: String
        package var attempts: Int
    }

    /// A pending file that is not in upload.
    package struct Waiting: Codable, Sendable, Hashable {
        package enum Reason: String, Codable, Sendable {
            /// A process has it open for writing.
            case open
            /// It changed lately.
            case settling
            /// Its upload failed.
            case retry
            /// Other files are uploaded first.
            case turn
            /// Nothing is sent at this time of day.
            case paused
        }

        package var file: String
        package var reason: Reason
        /// The time of the next check or attempt, in seconds since 1970; `nil` = when it is possible.
        package var until: Int64?
        /// The latest failure of a file whose upload is tried again.
        package var message: String?

        enum CodingKeys: String, CodingKey {
            case file, reason, message
            case until = "until_unix"
        }
    }

    /// A file that the gateway never accepts as it is.
    package struct Refusal: Codable, Sendable, Hashable {
        package var file: String
        /// A sentence without a full stop.
        package var message: String
    }

    package var version = ProgramVersion.current
    /// Seconds since 1970.
    package var startedAt: Int64 = 0
    package var updatedAt: Int64 = 0
    /// The number and size of files that were found and are not confirmed yet, including those in upload.
    package var pendingFiles = 0
    package var pendingBytes: Int64 = 0
    /// The first of the pending files that are not in upload, by path, at most 10; `nil` in the status of earlier versions.
    package var waiting: [Waiting]? = []
    package var uploading: [Uploading] = []
    /// The number and size of files uploaded since the agent's start.
    package var uploadedFiles = 0
    package var uploadedBytes: Int64 = 0
    package var deletedFiles = 0
    package var failedAttempts = 0
    /// The latest errors of pending files, at most 10.
    package var failures: [Failure] = []
    /// The number of files that the gateway never accepts as they are. They are not among the pending ones.
    package var refusedFiles = 0
    /// The first of them by path, at most 10.
    package var refusals: [Refusal] = []
    /// Directories that could not be read or watched when all were read last, and since then.
    package var failedDirectories = 0
    /// The errors of the first of them, at most 10: sentences without a full stop.
    package var directoryFailures: [String] = []
    /// Whether nothing is sent at this time of day.
    package var isPaused = false

    package init() {}

    enum CodingKeys: String, CodingKey {
        case version, waiting, uploading, failures, refusals
        case startedAt = "started_at_unix"
        case updatedAt = "updated_at_unix"
        case pendingFiles = "pending_files"
        case pendingBytes = "pending_bytes"
        case uploadedFiles = "uploaded_files"
        case uploadedBytes = "uploaded_bytes"
        case deletedFiles = "deleted_files"
        case failedAttempts = "failed_attempts"
        case refusedFiles = "refused_files"
        case failedDirectories = "failed_directories"
        case directoryFailures = "directory_failures"
        case isPaused = "is_paused"
    }

    /// The status as metrics, in the text format of Prometheus.
    package var metrics: String {
        let samples: [(name: String, kind: String, help: String, value: Int64)] = [
            ("started_timestamp_seconds", "gauge", "When the agent started.", startedAt),
            ("updated_timestamp_seconds", "gauge", "When the agent wrote these metrics.", updatedAt),
            ("pending_files", "gauge", "Files that were found and did not arrive yet.", Int64(pendingFiles)),
            ("pending_bytes", "gauge", "Bytes of these files.", pendingBytes),
            ("uploading_files", "gauge", "Files that are being uploaded.", Int64(uploading.count)),
            ("uploaded_files_total", "counter", "Files that arrived since the agent started.", Int64(uploadedFiles)),
            ("uploaded_bytes_total", "counter", "Bytes of these files.", uploadedBytes),
            ("deleted_files_total", "counter", "Files that the agent deleted after they arrived.", Int64(deletedFiles)),
            (
                "failed_directories", "gauge", "Directories that cannot be read or watched.", Int64(failedDirectories)
            ),
            ("refused_files", "gauge", "Files that the gateway never accepts as they are.", Int64(refusedFiles)),
            ("failed_attempts_total", "counter", "Uploads that failed and are tried again.", Int64(failedAttempts)),
        ]
        return samples.map { sample in
            let name = "data_gateway_agent_\(sample.name)"
            return "# HELP \(name) \(sample.help)\n# TYPE \(name) \(sample.kind)\n\(name) \(sample.value)\n"
        }.joined()
    }
}

/// The files of an agent: its lock, its status, and a reserve of space. They are in the folder `agent` of the device's folder.
package struct AgentFolder: Sendable {
    /// The size of the reserve in bytes: on a full disk it provides the space for the journals of uploads, which then free space.
    private static let reserve: Int64 = 1 << 20

    package let path: String
    /// The path of the device's folder.
    let devicePath: String

    package init(deviceFolder: String) {
        path = deviceFolder + "/agent"
        devicePath = deviceFolder
    }

    package var statusPath: String { path + "/status.json" }
    private var lockPath: String { path + "/lock" }
    private var reservePath: String { path + "/reserve" }

    package func make() throws(PrivateFile.Failure) { try PrivateFile.makeFolder(path) }

    /// Locks the folder for the one agent that may run, until the process ends; `nil` if another one has the lock.
    package func lock() throws(PrivateFile.Failure) -> Int32? {
        let file = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last() }
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return file }
        let failure = PrivateFile.Failure.last()
        close(file)
        if failure.code == EWOULDBLOCK { return nil }
        throw failure
    }

    /// Whether an agent uses the folder.
    package func isRunning() -> Bool {
        let file = open(lockPath, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) != 0
    }

    package func status() throws(PrivateFile.Failure) -> AgentStatus? {
        try PrivateFile.read(statusPath).flatMap { try? JSONDecoder().decode(AgentStatus.self, from: Data($0)) }
    }

    func write(_ status: AgentStatus) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let bytes = try? encoder.encode(status) { Self.replace(statusPath, [UInt8](bytes) + [0x0A], mode: 0o600) }
    }

    /// Returns the path of the temporary file that replaces the file at `path`.
    static func freshPath(_ path: String) -> String { path + ".new" }

    /// Puts a file in the place of another, without waiting for the disk: what it tells is out of date in a moment.
    static func replace(_ path: String, _ bytes: [UInt8], mode: mode_t) {
        let fresh = freshPath(path)
        let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { return }
        let isWhole = Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        if !isWhole || rename(fresh, path) != 0 { unlink(fresh) }
    }

    /// Creates the reserve if there is enough space.
    func fillReserve() {
        var status = stat()
        guard stat(reservePath, &status) != 0 || status.st_size < Self.reserve,
            (DiskSpace.available(at: path) ?? 0) > 16 * Self.reserve
        else { return }
        let file = open(reservePath, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        if posix_fallocate(file, 0, off_t(Self.reserve)) != 0 { unlink(reservePath) }
        close(file)
    }

    /// Removes the reserve if the disk is full.
    func releaseReserve() {
        if (DiskSpace.available(at: path) ?? .max) < Self.reserve { unlink(reservePath) }
    }
}
