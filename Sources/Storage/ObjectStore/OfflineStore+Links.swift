import Basics
import Glibc

extension OfflineStore {
    /// Gives the empty store `other` on the same disk every finished file of this one, including those in quarantine, and their
    /// facts. Both stores then share the bytes by hard links: nothing is copied, and removing a file from one leaves it in the other.
    /// Files of uploads in progress are omitted, because a gateway writes to them. Durable on return.
    package func linkFinishedFiles(to other: OfflineStore) throws {
        for folder in DirectoryEngine.folders {
            let files = try data.files(inFolder: folder).filter { try data.isFinished($0) }
            for file in files { try link(data.path(of: file.fileID), other.data.path(of: file.fileID)) }
            if !files.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/data/\(folder)") }
            let facts = try data.factsIDs(inFolder: folder)
            for fileID in facts { try link(data.factsPath(of: fileID), other.data.factsPath(of: fileID)) }
            if !facts.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/facts/\(folder)") }
        }
        for file in try data.quarantined() {
            try link("\(data.quarantinePath)/\(file.fileID)", "\(other.data.quarantinePath)/\(file.fileID)")
        }
        try PrivateFile.synchronizeFolder(other.data.quarantinePath)
    }

    private func link(_ source: String, _ target: String) throws {
        guard data.calls.link(source, target) == 0 else { throw StorageFailure.last() }
    }
}
