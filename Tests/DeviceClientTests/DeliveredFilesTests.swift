import Basics
import Foundation
import GatewayFormats
import TestSupport
import Testing

@testable import DeviceClient

@Suite(.timeLimited) struct DeliveredFilesTests {
    private static let source = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 11, device: 1, inode: 2)

    private func withFolder(_ body: (DeviceFolder) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "delivered-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(DeviceFolder(path))
    }

    @Test func deliveredFileIsKnownAfterARestart() throws {
        try withFolder { folder in
            try DeliveredFiles(in: folder).add(Self.source, crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            let record = try DeliveredFiles(in: folder)
            #expect(record.contains(Self.source))
            #expect(record.contains(Self.source, crc64: 99))
            #expect(!record.contains(Self.source, crc64: 98))
            let other = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 12, device: 1, inode: 2)
            #expect(!record.contains(other))
            // A restart of the machine may give the disk another number.
            let moved = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 11, device: 3, inode: 2)
            #expect(record.contains(moved))
        }
    }

    /// Two recordings have the same path, size and time of change if times are coarse or copied.
    @Test func fileThatLooksLikeADeliveredOneIsComparedByItsBytes() throws {
        try withFolder { folder in
            func source(inode: UInt64 = 2, changed: Int64? = 20, modified: Int64 = 11) -> SourceIdentity {
                SourceIdentity(
                    path: "/data/a.mcap", size: 7, modified: modified, device: 1, inode: inode, changed: changed)
            }
            try DeliveredFiles(in: folder).add(source(), crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            let record = try DeliveredFiles(in: folder)
            #expect(record.match(source()) == .same)
            for other in [source(inode: 3), source(changed: 21), source(changed: nil)] {
                #expect(record.match(other) == .similar)
                #expect(record.contains(other, crc64: 99))
                #expect(!record.contains(other, crc64: 98))
            }
            #expect(!record.contains(source(), crc64: 98))
            #expect(record.match(source(modified: 12)) == .none)
        }
    }

    @Test func fileWithoutAChecksumIsKnownByItsInode() throws {
        try withFolder { folder in
            let record = try DeliveredFiles(in: folder)
            try record.add(Self.source, crc64: nil, fileID: "f", at: UnixTime(seconds: 5))
            let other = SourceIdentity(path: "/data/a.mcap", size: 7, modified: 11, device: 1, inode: 3)
            #expect(record.contains(Self.source, crc64: 99))
            #expect(!record.contains(other, crc64: 99))
        }
    }

    @Test func anotherGatewayOrDeviceHasNothingYet() throws {
        try withFolder { folder in
            let plant = Endpoints(host: "plant.example.com")
            try folder.write(plant)
            try folder.write(deviceID: "260427-000001")
            try DeliveredFiles(in: folder).add(Self.source, crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            try folder.write(Endpoints(host: "other.example.com"))
            #expect(try DeliveredFiles(in: folder).match(Self.source) == .none)
            #expect(try !DeliveredFiles(in: folder).contains(Self.source, crc64: 99))
            #expect(try DeliveredFiles(in: folder).confirmed(at: [Self.source.path]).isEmpty)
            try folder.write(plant)
            #expect(try DeliveredFiles(in: folder).contains(Self.source))
            try folder.write(deviceID: "260427-000002")
            #expect(try DeliveredFiles(in: folder).match(Self.source) == .none)
        }
    }

    /// A crash may leave any beginning of a line; what is written after it can be read.
    @Test func cutOffLineHidesNoOther() throws {
        try withFolder { folder in
            try DeliveredFiles(in: folder).add(Self.source, crc64: 99, fileID: "f", at: UnixTime(seconds: 5))
            let whole = try Data(contentsOf: URL(fileURLWithPath: folder.deliveredPath))
            let second = SourceIdentity(path: "/data/b.mcap", size: 1, modified: 2, device: 1, inode: 3)
            for length in stride(from: 1, to: whole.count, by: 5) {
                try (whole + whole.prefix(length)).write(to: URL(fileURLWithPath: folder.deliveredPath))
                try DeliveredFiles(in: folder).add(second, crc64: nil, fileID: "g", at: UnixTime(seconds: 6))
                let record = try DeliveredFiles(in: folder)
                #expect(record.contains(Self.source), "\(length)")
                #expect(record.contains(second), "\(length)")
            }
        }
    }

    @Test func twoProcessesWriteOneRecord() throws {
        try withFolder { folder in
            let (first, second) = (try DeliveredFiles(in: folder), try DeliveredFiles(in: folder))
            for number in 0..<50 {
                let source = SourceIdentity(path: "/data/\(number)", size: 1, modified: 2, device: 1, inode: 3)
                try (number % 2 == 0 ? first : second).add(
                    source, crc64: nil, fileID: "\(number)", at: UnixTime(seconds: 6))
            }
            #expect(try DeliveredFiles(in: folder).count == 50)
            #expect((first.count, second.count) == (50, 50))
        }
    }
}
