import Basics
import DeviceClient

/// Files that the record of confirmed files knows, or that look like them: their bytes are compared before they count as delivered,
/// or are deleted.
extension Agent {
    /// Compares files with the record, one after the other, apart from the agent's other work.
    func compare(_ waker: AsyncStream<Wake>.Continuation) {
        guard comparing == nil, !comparisons.isEmpty else { return }
        comparing = Task {
            while !Task.isCancelled, let file = comparisons.first?.value {
                if await isDelivered(file) {
                    if configuration.directories[file.directory].afterUpload == .delete { delete(file.source) }
                } else if !Task.isCancelled {
                    addAgain(file)
                }
                comparisons[file.source.path] = nil
            }
            comparing = nil
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
