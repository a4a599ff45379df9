import Basics
import DeviceClient
import Glibc

/// The search for files: all directories from time to time, and the kernel's notifications in between.
extension Agent {
    func readNotifications() {
        for change in watch?.changes() ?? [] {
            switch change {
            case .overflow: schedule.rescanAt = .now
            case .entry(let path, isDirectory: true):
                for (number, directory) in configuration.directories.enumerated()
                where directory.isRecursive && path.hasPrefix(directory.path + "/") {
                    read(path, of: number)
                }
            case .entry(let path, isDirectory: false):
                for (number, directory) in configuration.directories.enumerated() {
                    guard let relative = directory.relativePath(of: path) else { continue }
                    guard let status = Self.regularFile(path) else { continue }
                    found(FoundFile(path: path, relativePath: relative), status, in: number)
                    break
                }
            }
        }
    }

    func readDirectories() {
        pending.forgetMore()
        for path in pending.refused.keys where Self.regularFile(path) == nil { pending.remove(path) }
        schedule.rescans += 1
        let former = Set(status.values.directoryFailures)
        status.values.failedDirectories = 0
        status.values.directoryFailures = []
        for (number, directory) in configuration.directories.enumerated() { read(directory.path, of: number, former) }
    }

    /// - Parameter former: messages that were logged when the directories were read before.
    private func failed(_ message: String, _ former: Set<String>) {
        status.isStale = true
        status.values.failedDirectories += 1
        guard status.values.directoryFailures.count < Self.longestFailures,
            !status.values.directoryFailures.contains(message)
        else {
            return
        }
        status.values.directoryFailures.append(message)
        if !former.contains(message) { log(message) }
    }

    /// Reads a directory of the configuration, or one below it, and watches it with everything below. One that cannot be
    /// watched is read all the same: its files are found each time that the directories are read.
    private func read(_ path: String, of number: Int, _ former: Set<String> = []) {
        let directory = configuration.directories[number]
        do {
            try FileTree(path, isRecursive: directory.isRecursive, except: deviceRoot).forEach(
                entered: { addWatch($0, former) }, failed: { failed("\($0)", former) }
            ) { file, status in
                guard let relative = directory.relativePath(of: file.path) else { return }
                found(FoundFile(path: file.path, relativePath: relative), status, in: number)
            }
        } catch {
            failed("\(error)", former)
        }
    }

    private func addWatch(_ directory: String, _ former: Set<String>) {
        do throws(DirectoryWatch.Failure) {
            try watch?.add(directory)
        } catch {
            failed("\(error)", former)
        }
    }

    func found(_ file: FoundFile, _ status: stat, in number: Int) {
        let directory = configuration.directories[number]
        guard directory.filter.admits(file.relativePath), !configuration.isMetricsFile(file.path) else { return }
        let source = SourceIdentity(path: file.path, status)
        let candidate = WatchedFile(source: source, relativePath: file.relativePath, directory: number)
        switch delivered.match(source) {
        case .none: addPending(candidate)
        case .same where directory.afterUpload != .delete: break
        case .same, .similar:
            // Either a file that was confirmed and not deleted, because of a power loss or an error, or another file that only
            // looks like it. Files beyond the limit are found when the directories are read again.
            if sideTasks.comparisons.count < FileQueue.most { sideTasks.comparisons[source.path] = candidate }
        }
    }

    func addPending(_ file: WatchedFile) {
        pending.found(
            file.source.path, FileQueue.Observation(file.source), in: file.directory, relativePath: file.relativePath,
            settling: configuration.directories[file.directory].settling, at: .now)
        status.isStale = true
    }

    func lookAtSettling(_ now: ContinuousClock.Instant) {
        for path in pending.dueForCheck(at: now) { _ = look(at: path, now) }
    }

    /// - Returns: the file at `path`; `nil` where it has to settle first, or is gone.
    func look(at path: String, _ now: ContinuousClock.Instant) -> SourceIdentity? {
        guard let number = pending.files[path]?.directory else { return nil }
        self.status.isStale = true
        let status = Self.regularFile(path)
        pending.looked(
            at: path, status.map { FileQueue.Observation(SourceIdentity(path: path, $0)) },
            isBeingWritten: status != nil && SourceIdentity.isBeingWritten(path) == true,
            settling: configuration.directories[number].settling, at: now)
        guard let status, pending.files[path]?.isStable == true else { return nil }
        return SourceIdentity(path: path, status)
    }

    /// The status of the file at `path`; `nil` if it does not exist or is something else, such as a link.
    static func regularFile(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }
}

extension AgentConfiguration.Directory {
    /// Returns the part of `path` below the directory; `nil` if the file is not in it.
    func relativePath(of path: String) -> String? {
        let prefix = self.path == "/" ? "/" : self.path + "/"
        guard path.hasPrefix(prefix) else { return nil }
        let relative = String(path.dropFirst(prefix.count))
        return isRecursive || !relative.contains("/") ? relative : nil
    }
}

extension FileQueue.Observation {
    fileprivate init(_ source: SourceIdentity) {
        self.init(size: source.size, modified: source.modified, inode: source.inode)
    }
}

/// Files that the record of confirmed files knows, or that look like them: their bytes are compared before they count as delivered,
/// or are deleted.
extension Agent {
    /// Compares files with the record, one after the other, apart from the agent's other work.
    func compare(_ waker: AsyncStream<Wake>.Continuation) {
        guard sideTasks.comparing == nil, !sideTasks.comparisons.isEmpty else { return }
        sideTasks.comparing = Task {
            while !Task.isCancelled, let file = sideTasks.comparisons.first?.value {
                if await isDelivered(file) {
                    if configuration.directories[file.directory].afterUpload == .delete { delete(file.source) }
                } else if !Task.isCancelled {
                    addAgain(file)
                }
                sideTasks.comparisons[file.source.path] = nil
            }
            sideTasks.comparing = nil
            waker.yield(.timer)
        }
    }

    /// The file is to be uploaded, in the state that it has now.
    func addAgain(_ file: WatchedFile) {
        guard let status = Self.regularFile(file.source.path) else { return }
        addPending(
            WatchedFile(
                source: SourceIdentity(path: file.source.path, status), relativePath: file.relativePath,
                directory: file.directory))
    }

    /// Whether the bytes of the file are those that the gateway confirmed.
    func isDelivered(_ file: WatchedFile) async -> Bool {
        guard let crc64 = await file.source.contentChecksum(), delivered.contains(file.source, crc64: crc64) else {
            return false
        }
        guard delivered.match(file.source) != .same else { return true }
        do throws(DeviceFolder.Failure) {
            // From now on it is known without its bytes being read.
            try delivered.add(file.source, crc64: crc64, fileID: "", at: clock.now())
        } catch {
            log(error.message)
        }
        return true
    }
}
