import Basics
import Foundation
import HTTPClient
import StoreClient
import Synchronization
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct FolderWriterTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func source(bytes: Int) throws -> CopySource {
        let path = "\(scene.root)/source"
        try Data(repeating: 7, count: bytes).write(to: URL(filePath: path))
        let file = try FileReader(path)
        let digest = try #require(try file.digest(of: 0..<Int64(bytes)))
        return CopySource(bytes: file, size: Int64(bytes), crc64: digest.crc64)
    }

    private let progress = CopyProgress(reached: { _ in }, began: { _ in })

    private func item(_ source: CopySource) -> CopyItem {
        CopyItem(jobID: "a", number: 0, fileID: "f", uploadID: "u", key: "k", size: source.size)
    }

    /// A folder has a size, too. That it cannot be read as a file is not a failure of the source, which would end the item.
    @Test func aFolderInTheWayIsTheDestinationsTrouble() async throws {
        let name = "\(scene.root)/k"
        try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: name)[.size] as? Int)
        let writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: size)
        #expect(try await writer.found(item(source), source) == .nothing)
        let failure = await #expect(throws: (any Error).self) {
            try await writer.write(item(source), source, over: .nothing, replaces: true, progress)
        }
        #expect(failure.map { CopyFailure($0).code } == .destinationFailed)
    }

    @Test func copiedFileIsFoundAsTheSame() async throws {
        let writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: 100)
        #expect(try await writer.found(item(source), source) == .nothing)
        try await writer.write(item(source), source, over: .nothing, replaces: true, progress)
        #expect(try await writer.found(item(source), source) == .same)
    }

    @Test func otherFileIsReplacedOnlyOnRequest() async throws {
        let name = "\(scene.root)/k"
        let writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: 100)
        for place in ["file", "link"] {
            switch place {
            case "file": try Data("theirs".utf8).write(to: URL(filePath: name))
            default: try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: "/nowhere")
            }
            #expect(try await writer.found(item(source), source) == .another)
            let failure = await #expect(throws: CopyFailure.self) {
                try await writer.write(item(source), source, over: .nothing, replaces: false, progress)
            }
            #expect(failure == .occupied)
            try await writer.write(item(source), source, over: .nothing, replaces: true, progress)
            #expect(try await writer.found(item(source), source) == .same)
            try FileManager.default.removeItem(atPath: name)
        }
    }

    /// Records synced descriptors by their paths.
    private final class Synced: Sendable {
        let paths = Lock<[String]>([])
        let error = Lock<Int32?>(nil)

        var call: @Sendable (Int32) -> Int32 {
            { [self] descriptor in
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                paths.withLock { $0.append(path ?? "") }
                guard let error = error.withLock({ $0 }) else { return 0 }
                errno = error
                return -1
            }
        }
    }

    private func nested(_ source: CopySource) -> CopyItem {
        CopyItem(jobID: "a", number: 0, fileID: "f", uploadID: "u", key: "x/y/k", size: source.size)
    }

    /// After a crash the file may exist in the page cache only.
    @Test func foundFileIsSyncedBeforeItCounts() async throws {
        let synced = Synced()
        var writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: 100)
        try await writer.write(nested(source), source, over: .nothing, replaces: true, progress)
        writer.synchronize = synced.call
        #expect(try await writer.found(nested(source), source) == .same)
        let root = URL(filePath: scene.root).resolvingSymlinksInPath().path
        #expect(synced.paths.withLock { $0 } == ["/x/y/k", "", "/x", "/x/y"].map { root + $0 })
    }

    @Test func fileThatCannotBeSyncedDoesNotCount() async throws {
        let synced = Synced()
        var writer = FolderWriter(root: scene.root, folders: [])
        let source = try source(bytes: 100)
        try await writer.write(nested(source), source, over: .nothing, replaces: true, progress)
        synced.error.withLock { $0 = EIO }
        writer.synchronize = synced.call
        #expect(try await writer.found(nested(source), source) == .another)
    }
}
