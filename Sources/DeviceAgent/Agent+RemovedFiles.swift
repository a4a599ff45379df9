import Basics
import DeviceClient
import Foundation

/// The uploads of files that were removed before they arrived.
extension Agent {
    /// Ends the uploads of files that were removed before they arrived, apart from the agent's other work.
    func giveUpVanished() {
        guard givingUp == nil, rescans >= Self.rescansBeforeGivingUp,
            let sources = try? uploader.unfinishedSources().filter(isRemoved), !sources.isEmpty
        else { return }
        givingUp = Task {
            for source in sources where !Task.isCancelled && isRemoved(source) {
                log("\(source.path) was removed before it was uploaded")
                do {
                    try await uploader.giveUp(source.path)
                } catch {
                    log("cannot abort the upload of \(source.path): \(AgentFailure.text(error))")
                }
            }
            givingUp = nil
        }
    }

    /// Whether the file was removed; one whose disk is not mounted was not.
    private func isRemoved(_ source: SourceIdentity) -> Bool {
        var status = stat()
        guard lstat(source.path, &status) != 0, errno == ENOENT, uploads[source.path] == nil,
            configuration.directories.contains(where: { $0.relativePath(of: source.path) != nil })
        else { return false }
        return stat(Path.folder(of: source.path), &status) == 0 && UInt64(status.st_dev) == source.device
    }
}
