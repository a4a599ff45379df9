import Basics
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import Backup

/// An archive that arrives for a restore, interrupted at any of its bytes.
@Suite(.timeLimited) struct ArchiveStagingTests {
    /// Calls a function before each read.
    private final class ObservedSource: ArchiveSource {
        private let source: MemorySource
        private let observe: () throws -> Void

        init(_ bytes: [UInt8], _ observe: @escaping () throws -> Void) {
            source = MemorySource(bytes)
            self.observe = observe
        }

        func read(_ count: Int) throws -> [UInt8] {
            try observe()
            return try source.read(count)
        }
    }

    private static func archive() throws -> [UInt8] {
        let manifest = Manifest(
            format: DataDirectory.format, storeID: "id", generation: 1, createdAt: "2026-11-21T17:00:00Z", objects: 0,
            hasObjects: true)
        let sink = MemorySink()
        let writer = try ArchiveWriter(sink)
        try writer.write(.manifest, try manifest.encoded)
        try writer.write(.database, [UInt8](repeating: 7, count: 1 << 20))
        try writer.write(.key, name: "root", [1, 2, 3])
        return sink.bytes
    }

    /// A process that is killed while it checks an archive removes nothing: the next start has to find all of its files.
    @Test func aStartRemovesWhatAnInterruptedUploadHasLeft() throws {
        let scratch = Scratch()
        let folder = RestoreFolder(directory: scratch.path)
        try folder.make()
        let staging = ArchiveStaging(folder: folder, storeID: nil, minimumFreeBytes: 0, migrations: [])
        let left = scratch.path + "/left"
        var copies = 0
        let source = ObservedSource(try Self.archive()) {
            try? FileManager.default.removeItem(atPath: left)
            try FileManager.default.copyItem(atPath: folder.path, toPath: left)
            copies += 1
        }
        #expect(throws: ArchiveError.self) { try staging.store(source, as: "first", passphrase: nil) }
        #expect(copies > 5)
        #expect(try FolderListing.names(in: folder.path).isEmpty)
        #expect(try !FolderListing.names(in: left).isEmpty)
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.moveItem(atPath: left, toPath: folder.path)
        try RequestedRestore(folder: folder, migrations: [], now: UnixTime(seconds: 9), log: .discarding).run()
        #expect(try FolderListing.names(in: folder.path).isEmpty)
    }
}
