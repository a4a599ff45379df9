import Basics
import Foundation
import TestSupport
import Testing

@testable import DeviceClient

@Suite(.timeLimited) struct DeliveredFilesTests {
    private static let source = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 11, device: 1, inode: 2)

    private func withFolder(_ body: (DeviceFolder) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "delivered-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(DeviceFolder(path))
    }

    @Test func deliveredFileIsKnownAfterARestart() async throws {
        try await withFolder { folder in
            try await DeliveredFiles(in: folder).add(Self.source, crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            let record = try DeliveredFiles(in: folder)
            #expect(await record.contains(Self.source))
            #expect(await record.contains(size: 7, crc64: 99))
            #expect(await record.mayContain(size: 7))
            #expect(await !record.mayContain(size: 8))
            #expect(await !record.contains(size: 7, crc64: 98))
            let other = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 12, device: 1, inode: 2)
            #expect(await !record.contains(other))
            // A restart of the machine may give the disk another number.
            let moved = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 11, device: 3, inode: 2)
            #expect(await record.contains(moved))
        }
    }

    /// A crash may leave any beginning of a line; what is written after it can be read.
    @Test func cutOffLineHidesNoOther() async throws {
        try await withFolder { folder in
            try await DeliveredFiles(in: folder).add(Self.source, crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            let whole = try Data(contentsOf: URL(fileURLWithPath: folder.deliveredPath))
            let second = SourceIdentity(path: "/data/b.mcap", size: 1, modified: 2, device: 1, inode: 3)
            for length in stride(from: 1, to: whole.count, by: 5) {
                try (whole + whole.prefix(length)).write(to: URL(fileURLWithPath: folder.deliveredPath))
                try await DeliveredFiles(in: folder).add(second, crc64: nil, fileID: "g", at: UnixTime(seconds: 6))
                let record = try DeliveredFiles(in: folder)
                #expect(await record.contains(Self.source), "\(length)")
                #expect(await record.contains(second), "\(length)")
            }
        }
    }

    @Test func twoProcessesWriteOneRecord() async throws {
        try await withFolder { folder in
            let (first, second) = (try DeliveredFiles(in: folder), try DeliveredFiles(in: folder))
            for number in 0..<50 {
                let source = SourceIdentity(path: "/data/\(number)", size: 1, modified: 2, device: 1, inode: 3)
                try await (number % 2 == 0 ? first : second).add(
                    source, crc64: nil, fileID: "\(number)", at: UnixTime(seconds: 6))
            }
            #expect(await (try DeliveredFiles(in: folder)).count == 50)
        }
    }
}
