import Foundation

/// A folder that is removed after its test.
final class Scratch: Sendable {
    let path = NSTemporaryDirectory() + "backup-\(UUID().uuidString)"

    init() {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a folder with empty files.
    func folder(_ name: String, files: [String]) throws -> String {
        let folder = "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in files { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(file)")) }
        return folder
    }
}
