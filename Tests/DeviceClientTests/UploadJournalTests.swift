import Foundation
import StoreClient
import TestSupport
import Testing

@testable import DeviceClient

@Suite(.timeLimited) struct UploadJournalTests {
    private static let attempt = UploadAttempt(
        upload: "u1", endpoint: "http://127.0.0.1:1", region: "r", bucket: "b-1", key: "k/ü", partSize: 100)
    private static let events: [UploadEvent] = [
        .begun(
            source: SourceIdentity(path: "/a b", size: 7, modified: 2, device: 3, inode: 4), tags: ["k": "line\nbreak"],
            key: "i"),
        .created(logical: "l1", attempt: attempt), .initiated(multipart: "m"),
        .acknowledged(part: StorePart(number: 1, size: 7, etag: "\"E\"", crc64: .max)),
        .held(parts: [StorePart(number: 1, size: 7, etag: "\"E\"", crc64: nil)]), .lost,
        .stored(upload: "u1", etag: "\"E-1\"", parts: 1),
    ]

    private func withFolder(_ test: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "journal-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try test(folder)
    }

    @Test func appendedEventsAreReadBack() throws {
        try withFolder { folder in
            let path = folder + "/j.jsonl"
            for event in Self.events { try UploadJournal(path).append(event) }
            #expect(try UploadJournal(path).events == Self.events)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            try UploadJournal(path).remove()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    /// A crash may leave any prefix of the written bytes.
    @Test func aLineThatWasCutOffIsForgotten() throws {
        try withFolder { folder in
            let path = folder + "/j.jsonl"
            let journal = try UploadJournal(path)
            for event in Self.events.prefix(2) { try journal.append(event) }
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            let first = (whole.firstIndex(of: 0x0A) ?? 0) + 1
            for length in stride(from: 0, to: whole.count, by: 7) {
                let copy = folder + "/\(length).jsonl"
                try whole.prefix(length).write(to: URL(fileURLWithPath: copy))
                let reopened = try UploadJournal(copy)
                #expect(reopened.events == Array(Self.events.prefix(length < first ? 0 : 1)))
                try reopened.append(Self.events[2])
            }
        }
    }

    @Test func aLineThatIsNoEventIsNamed() throws {
        try withFolder { folder in
            let path = folder + "/j.jsonl"
            try UploadJournal(path).append(Self.events[0])
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data("{\"nonsense\":{}}\n".utf8))
            #expect(throws: DeviceFolder.Failure("line 2 of \(path) cannot be read: delete the file")) {
                try UploadJournal(path)
            }
        }
    }

    @Test func oneProcessAtATime() throws {
        try withFolder { folder in
            let path = folder + "/j.jsonl"
            let first = try UploadJournal(path)
            #expect(throws: DeviceFolder.Failure.self) { try UploadJournal(path) }
            _ = first.path
        }
    }

    /// One process may remove the journal between another's opening and locking it.
    @Test func openedJournalIsTheOneInItsPlace() async throws {
        let folder = NSTemporaryDirectory() + "journal-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let opened = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var opened = 0
                    for _ in 0..<300 {
                        guard let journal = try? UploadJournal(folder + "/j.jsonl") else { continue }
                        opened += 1
                        #expect(throws: Never.self) { try journal.remove() }
                    }
                    return opened
                }
            }
            return await group.reduce(0, +)
        }
        #expect(opened > 0)
    }

    @Test func changesOfAFileAreTold() {
        let file = SourceIdentity(path: "/f", size: 7, modified: 2, device: 3, inode: 4)
        func changed(size: Int64 = 7, modified: Int64 = 2, inode: UInt64 = 4) -> String? {
            file.change(to: SourceIdentity(path: "/f", size: size, modified: modified, device: 3, inode: inode))
        }
        #expect(changed() == nil)
        #expect(changed(size: 9) == "changed from 7 to 9 bytes")
        #expect(changed(modified: 3) == "was modified")
        #expect(changed(inode: 5) == "was replaced by another file")
    }
}
