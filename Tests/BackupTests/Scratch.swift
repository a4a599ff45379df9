import Foundation

/// A folder that goes with its test.
final class Scratch: Sendable {
    let path = NSTemporaryDirectory() + "backup-\(UUID().uuidString)"

    init() {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A folder with empty files in it.
    func folder(_ name: String, files: [String]) throws -> String {
        let folder = "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in files { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(file)")) }
        return folder
    }
}
