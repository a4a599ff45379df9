import Basics
import DeviceClient
import HTTPClient
import Synchronization

/// The begin and the end of uploads.
extension Agent {
    func begin(_ waker: AsyncStream<Wake>.Continuation) {
        if isPaused != status.values.isPaused {
            status.values.isPaused = isPaused
            status.isStale = true
            // Uploads in progress stop soon, and are resumed when sending is permitted again.
            if isPaused { for upload in uploads.tasks.values { upload.cancel() } }
        }
        guard !isPaused else { return }
        while uploads.tasks.count < configuration.files {
            let next = pending.next(at: .now) { configuration.directories[$0].priority }
            guard let path = next, let file = pending.files[path] else { return }
            // Long after the file settled, e.g. since nothing could be sent, it may be written to again.
            guard let source = look(at: path, .now) else { continue }
            let directory = configuration.directories[file.directory]
            let tags = directory.tags.tags(of: file.relativePath, size: file.seen.size, modified: file.seen.modified)
            uploads.progress.begin(path, size: file.seen.size)
            uploads.tasks[path] = Task { [uploader = uploads.uploader, progress = uploads.progress, log] in
                let labels = (tags: tags, path: file.relativePath)
                let ending = await Self.upload(source, labels, uploader, progress, log)
                waker.yield(.ended(path, ending))
                return ending
            }
        }
    }

    private static func upload(
        _ source: SourceIdentity, _ labels: (tags: [String: String], path: String), _ uploader: Uploader,
        _ progress: UploadProgress, _ log: @escaping @Sendable (String) -> Void
    ) async -> Ending {
        let path = source.path
        do {
            let outcome = try await uploader.upload(
                path, relativePath: labels.path, tags: labels.tags, .resuming, expecting: source,
                notice: { notice in
                    progress.note(notice, path)
                    if case .waiting(let what, let reason, let delay) = notice {
                        log("\(path): \(AgentFailure.retry(what, reason, delay))")
                    }
                })
            log("uploaded \(path): \(ByteCount.text(outcome.source.size)), file \(outcome.fileID)")
            if let change = FileLabels.change(of: path, relativePath: labels.path) { log(change) }
            return .arrived(outcome.source)
        } catch is CancellationError {
            return .stopped
        } catch is SourceChange {
            return .changed
        } catch let failure as FileReader.Failure where failure.isMissing {
            return .removed
        } catch let refusal as FileRefusal {
            return .refused(refusal.message)
        } catch {
            return Task.isCancelled ? .stopped : .failed(AgentFailure.text(error))
        }
    }

    func finish(_ path: String, _ ending: Ending) {
        uploads.tasks[path] = nil
        status.isStale = true
        let size = uploads.progress.end(path)
        guard let file = pending.files[path] else { return }
        let directory = configuration.directories[file.directory]
        switch ending {
        case .arrived(let source):
            pending.remove(path)
            status.values.uploadedFiles += 1
            status.values.uploadedBytes += size
            if directory.afterUpload == .delete { delete(source) }
            folder.fillReserve()
            schedule.checkAt = .now
            // A file that was written to after its last part was read is another file.
            if let now = Self.regularFile(path) {
                found(FoundFile(path: path, relativePath: file.relativePath), now, in: file.directory)
            }
        case .changed: pending.changed(path, at: .now + directory.settling)
        case .stopped: pending.stopped(path)
        case .removed:
            pending.remove(path)
        case .refused(let message):
            pending.refuse(path, message)
            log("\(message); it is not tried again until it changes or the agent starts")
        case .failed(let message):
            status.values.failedAttempts += 1
            pending.failed(path, message, at: .now)
            log("\(path): \(message)")
            folder.releaseReserve()
        }
        if pending.hasMore, pending.count < FileQueue.most / 2 { schedule.rescanAt = .now }
    }
}

/// The progress of the uploads; written by them, read for the status.
final class UploadProgress: Sendable {
    private let files = Lock<[String: AgentStatus.Uploading]>([:])

    var current: [AgentStatus.Uploading] { files.withLock { $0.values.sorted { $0.file < $1.file } } }

    func begin(_ path: String, size: Int64) {
        files.withLock { $0[path] = AgentStatus.Uploading(file: path, doneBytes: 0, sizeBytes: size) }
    }

    func note(_ notice: UploadNotice, _ path: String) {
        files.withLock {
            switch notice {
            case .began(let state, let acknowledged):
                $0[path]?.sizeBytes = state.source.size
                $0[path]?.doneBytes = acknowledged
            case .position(let acknowledged, _): $0[path]?.doneBytes = acknowledged
            case .moved(let bytes): $0[path]?.doneBytes += bytes
            case .restarted: $0[path]?.doneBytes = 0
            case .waiting(let what, let reason, _): $0[path]?.message = AgentFailure.failure(of: what, reason)
            case .acknowledged, .addressChanged, .keyChanged, .tagsKept: break
            }
            if notice.isAdvance { $0[path]?.message = nil }
        }
    }

    /// - Returns: the file's size.
    func end(_ path: String) -> Int64 { files.withLock { $0.removeValue(forKey: path)?.sizeBytes ?? 0 } }
}

extension UploadNotice {
    /// Whether a step succeeded, so that the one that failed before was tried again.
    fileprivate var isAdvance: Bool {
        switch self {
        case .began, .position, .acknowledged: true
        // A part that failed takes its bytes back.
        case .moved(let bytes): bytes > 0
        case .restarted, .waiting, .addressChanged, .keyChanged, .tagsKept: false
        }
    }
}
