import Basics
import FoundationEssentials
import Glibc
import HTTPClient

/// Files with the content of standard input, each in a directory of its own below the device's folder, until they are uploaded.
package struct InputSpool: Sendable {
    private let folder: DeviceFolder

    package init(_ folder: DeviceFolder) { self.folder = folder }

    /// Copies everything from `descriptor` to a new file.
    ///
    /// - Returns: the path of the file, which is durable.
    /// - Throws: `DeviceFolder.Failure`; then no file is left.
    package func receive(_ descriptor: Int32, name: String) async throws -> String {
        try await Worker.disk.run {
            let directory = "\(folder.spoolPath)/\(UUID().uuidString.lowercased())"
            do throws(PrivateFile.Failure) {
                try PrivateFile.makeFolder(folder.spoolPath)
                try PrivateFile.makeFolder(directory)
            } catch {
                throw DeviceFolder.Failure("cannot create \(directory): \(error.reason)")
            }
            let path = "\(directory)/\(name)"
            do throws(DeviceFolder.Failure) {
                try copy(descriptor, to: path)
                return path
            } catch {
                unlink(path)
                rmdir(directory)
                throw error
            }
        }
    }

    private func copy(_ descriptor: Int32, to path: String) throws(DeviceFolder.Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last("create", path) }
        defer { close(file) }
        var block = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", "standard input") }
            if count == 0 { break }
            do throws(PrivateFile.Failure) {
                try OpenFile.write(block[..<count], to: file)
            } catch {
                throw DeviceFolder.Failure("cannot write \(path): \(error.reason)")
            }
        }
        guard fsync(file) == 0 else { throw .last("write", path) }
    }

    /// Removes the spooled files whose uploads ended.
    ///
    /// - Parameter unfinished: the files whose uploads did not end.
    package func remove(_ files: [String], besides unfinished: [String]) {
        let root = URL(fileURLWithPath: folder.spoolPath).standardizedFileURL.path
        for file in files.map({ URL(fileURLWithPath: $0).standardizedFileURL.path })
        where file.hasPrefix("\(root)/") && !unfinished.contains(file) {
            unlink(file)
            rmdir(Path.folder(of: file))
        }
    }
}
