package import Foundation

/// A test's temporary folder, which is removed with the last reference to it.
package final class TestFolder: Sendable {
    package let path: String

    package var url: URL { URL(filePath: path) }

    /// - Parameter inMemory: whether the folder may be on a file system in memory, if the machine has one: faster, for tests that
    ///   do not test durability.
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
