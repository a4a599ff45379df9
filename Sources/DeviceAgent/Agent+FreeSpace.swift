import Basics
import DeviceClient

/// The deletion of files that arrived.
extension Agent {
    func delete(_ source: SourceIdentity) {
        do {
            try source.deleteFile()
            status.values.deletedFiles += 1
            status.isStale = true
        } catch {
            log(error.message)
        }
    }

    /// Deletes files that arrived, the oldest first, until the minimum is free.
    func freeSpace(_ waker: AsyncStream<Wake>.Continuation) {
        guard configuration.minimumFree > 0, sideTasks.freeing == nil else { return }
        var all: [WatchedFile] = []
        for (number, directory) in configuration.directories.enumerated()
        where directory.afterUpload == .deleteWhenFull && isFull(directory) {
            var files: [WatchedFile] = []
            // Directories that cannot be read are reported when all directories are read.
            try? FileTree(directory.path, isRecursive: directory.isRecursive, except: deviceRoot).forEach(failed: { _ in
            }) {
                file, status in
                let source = SourceIdentity(path: file.path, status)
                guard directory.filter.admits(file.relativePath), delivered.contains(source) else { return }
                files.append(WatchedFile(source: source, relativePath: file.relativePath, directory: number))
            }
            all += files.sorted { $0.source.modified < $1.source.modified }
        }
        guard !all.isEmpty else { return }
        sideTasks.freeing = Task { [all] in
            await free(all)
            sideTasks.freeing = nil
            waker.yield(.timer)
        }
    }

    func free(_ files: [WatchedFile]) async {
        for file in files where !Task.isCancelled && isFull(configuration.directories[file.directory]) {
            guard await isDelivered(file) else {
                if !Task.isCancelled { addAgain(file) }
                continue
            }
            let minimum = ByteCount.text(configuration.minimumFree)
            log("deleting \(file.source.path), which was uploaded: less than \(minimum) is free")
            delete(file.source)
        }
    }

    func isFull(_ directory: AgentConfiguration.Directory) -> Bool {
        DiskSpace.available(at: directory.path).map { $0 < configuration.minimumFree } ?? false
    }
}

/// The uploads of files that were removed before they arrived.
extension Agent {
    /// Ends the uploads of files that were removed before they arrived, apart from the agent's other work.
    func giveUpVanished() {
        guard sideTasks.givingUp == nil, schedule.rescans >= Self.rescansBeforeGivingUp,
            let sources = try? uploads.uploader.unfinishedSources().filter(isRemoved), !sources.isEmpty
        else { return }
        sideTasks.givingUp = Task {
            for source in sources where !Task.isCancelled && isRemoved(source) {
                log("\(source.path) was removed before it was uploaded")
                do {
                    try await uploads.uploader.giveUp(source.path, Uploader.removal)
                } catch {
                    log("cannot abort the upload of \(source.path): \(AgentFailure.text(error))")
                }
            }
            sideTasks.givingUp = nil
        }
    }

    /// Whether the file was removed from a directory of the agent, and is not being sent. A directory that is missing itself may come
    /// back.
    private func isRemoved(_ source: SourceIdentity) -> Bool {
        uploads.tasks[source.path] == nil && source.isRemoved
            && configuration.directories.contains {
                $0.relativePath(of: source.path) != nil && DirectoryIdentity($0.path) != nil
            }
    }
}
