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
                    try await uploader.giveUp(source.path, Uploader.removal)
                } catch {
                    log("cannot abort the upload of \(source.path): \(AgentFailure.text(error))")
                }
            }
            givingUp = nil
        }
    }

    /// Whether the file was removed from a directory of the agent, and is not being sent. A directory that is missing itself may come
    /// back.
    private func isRemoved(_ source: SourceIdentity) -> Bool {
        uploads[source.path] == nil && source.isRemoved
            && configuration.directories.contains {
                $0.relativePath(of: source.path) != nil && DirectoryIdentity($0.path) != nil
            }
    }
}
