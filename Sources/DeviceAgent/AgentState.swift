import DeviceClient

/// The uploads in progress.
struct RunningUploads {
    let uploader: Uploader
    let progress = UploadProgress()
    /// By path.
    var tasks: [String: Task<Agent.Ending, Never>] = [:]

    init(uploader: Uploader) {
        self.uploader = uploader
    }
}

/// The work of the agent beside its uploads: each kind is one task at a time.
struct SideTasks {
    /// Files of the record whose bytes are compared before they count as delivered, or are deleted, by path.
    var comparisons: [String: WatchedFile] = [:]
    var comparing: Task<Void, Never>?
    var freeing: Task<Void, Never>?
    var givingUp: Task<Void, Never>?

    var all: [Task<Void, Never>] { [comparing, freeing, givingUp].compactMap(\.self) }
}

/// The status, and when it is written next.
struct ReportedStatus {
    var values = AgentStatus()
    /// Whether something changed since it was written.
    var isStale = true
    /// The time from which it is written during transfers although nothing else changed.
    var dueAt = ContinuousClock.now
}

/// The times of recurring work.
struct AgentSchedule {
    /// The number of times that all directories were read.
    var rescans = 0
    var rescanAt = ContinuousClock.now
    /// The time of the next look at the free space.
    var checkAt = ContinuousClock.now
    /// Whether the memory of code was released since the agent became idle.
    var hasReleasedCode = false
}
