import Foundation
import Testing
import Transfer

@testable import Copies

@Suite struct FolderWriterTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func source(bytes: Int) throws -> CopySource {
        let path = "\(scene.root)/source"
        try Data(repeating: 7, count: bytes).write(to: URL(filePath: path))
        let file = try FileReader(path)
        let digest = try #require(try file.digest(of: 0..<Int64(bytes)))
        return CopySource(file: file, size: Int64(bytes), crc64: digest.crc64)
    }

    private let progress = CopyProgress(reached: { _ in }, began: { _ in })

    private func item(_ source: CopySource) -> CopyItem {
        CopyItem(jobID: "a", number: 0, fileID: "f", uploadID: "u", key: "k", size: source.size)
    }

    /// A folder has a size, too: what cannot be read there is no trouble of the source's, which would end the item.
    @Test func aFolderInTheWayIsTheDestinationsTrouble() async throws {
        let name = "\(scene.root)/k"
        try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: name)[.size] as? Int)
        let writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: size)
        #expect(try await !writer.holds(item(source), source))
        let failure = await #expect(throws: (any Error).self) {
            try await writer.write(item(source), source, progress)
        }
        #expect(failure.map { CopyFailure($0).code } == .destinationFailed)
    }

    @Test func whatIsThereIsFound() async throws {
        let writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: 100)
        #expect(try await !writer.holds(item(source), source))
        try await writer.write(item(source), source, progress)
        #expect(try await writer.holds(item(source), source))
    }
}
