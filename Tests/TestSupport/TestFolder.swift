import Foundation

/// A folder of a test's own, which is removed with the last reference to it.
package final class TestFolder: Sendable {
    package let path: String

    package var url: URL { URL(filePath: path) }

    /// - Parameter inMemory: whether the folder may be in memory, where the machine has such a file system: faster, and
    ///   right for tests that do not ask what survives a crash.
    package init(inMemory: Bool = false) throws {
        let memory = "/dev/shm"
        let parent = inMemory && FileManager.default.fileExists(atPath: memory) ? memory : NSTemporaryDirectory()
        path = URL(filePath: parent).appending(path: "data-gateway-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
