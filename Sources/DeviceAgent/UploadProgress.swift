import Basics
import DeviceClient
import Synchronization

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
