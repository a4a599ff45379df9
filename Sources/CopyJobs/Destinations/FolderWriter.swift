import Basics
import Foundation
import HTTPClient
import StoreClient

/// Copies into folders of this machine: first to a temporary file, which is renamed when it is complete and synced.
struct FolderWriter: DestinationWriter {
    /// The number of bytes between two reports, and between two checks for cancellation.
    private static let stride: Int64 = 16 << 20

    let root: String
    /// The folders below the root, the outermost first.
    let folders: [String]
    /// fsync(2), which tests replace.
    var synchronize: @Sendable (Int32) -> Int32 = { fsync($0) }

    /// Whether a folder or a file may have the name: 1 to 255 bytes, no slash, neither `.` nor `..`, no control character.
    static func isName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    }

    func objection(to key: String) -> String? {
        let names = Self.names(of: key)
        guard names.allSatisfy(Self.isName) else { return "each segment between slashes must be 1 to 255 bytes" }
        return names.last?.hasPrefix(CopyItem.partialPrefix) == true ? "the name is reserved for unfinished files" : nil
    }

    /// Returns the existing content, after making the file, its name and the folders of its path durable: a process that was killed
    /// may have written it without syncing.
    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent {
        try await Worker.disk.run {
            let names = Self.names(of: item.key)
            // A file that cannot be read belongs to another program; the error does not concern the source.
            var way: [Folder] = []
            let below = folders + names.dropLast()
            guard let folder = try Folder.open(root, below, makes: false, visit: { way.append($0) }),
                folder.hasFile(names.last ?? "")
            else { return .nothing }
            guard let file = try? FileReader(folder.path(of: names.last ?? "")),
                let status = try? file.status(), Int64(status.st_size) == source.size,
                let digest = try? file.digest(of: 0..<source.size)
            else { return .another }
            guard digest.crc64 == source.crc64, (try? file.synchronize(synchronize)) != nil else { return .another }
            for folder in way + [folder] { try folder.synchronize(synchronize) }
            return .same
        }
    }

    func path(of key: String) -> String {
        "file://\(([root] + folders + [key]).joined(separator: "/"))"
    }

    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws {
        let names = Self.names(of: item.key)
        let (folder, partial) = try await Worker.disk.run {
            guard let folder = try Folder.open(root, folders + names.dropLast(), makes: true) else {
                throw CopyFailure(.destinationFailed, "the destination's folder does not exist any more", .transient())
            }
            return (folder, try PartialFile(folder.path(of: item.partialName), synchronize: synchronize))
        }
        // After a power loss, an earlier attempt's file may be shorter than it was or contain other bytes.
        for isLast in [false, true] {
            try await append(source, to: partial, progress)
            let isWhole = try await Worker.disk.run {
                guard partial.size == source.size, partial.crc64 == source.crc64 else {
                    try partial.truncate()
                    return false
                }
                // No other organization can write the name by now; against other programs this is a check without a lock.
                guard replaces || !folder.hasFile(names.last ?? "") else { throw CopyFailure.occupied }
                try partial.finish(as: folder.path(of: names.last ?? ""))
                return true
            }
            if isWhole { return }
            if isLast {
                throw CopyFailure(
                    .sourceDamaged, "the object is corrupted: its bytes no longer match its checksum", .permanent)
            }
        }
    }

    private func append(_ source: CopySource, to partial: PartialFile, _ progress: CopyProgress) async throws {
        while partial.size < source.size {
            try Task.checkCancellation()
            let end = min(partial.size + Self.stride, source.size)
            try await Worker.disk.run {
                try source.file.forEachBlock(of: partial.size..<end) { try partial.append($0) }
            }
            guard partial.size == end else {
                throw CopyFailure(.sourceDamaged, "the object's file became shorter", .permanent)
            }
            try await progress.reached(end)
        }
    }

    func abandon(_ item: CopyItem) async throws {
        try await Worker.disk.run {
            let names = Self.names(of: item.key)
            guard let folder = try Folder.open(root, folders + names.dropLast(), makes: false) else { return }
            unlink(folder.path(of: item.partialName))
        }
    }

    private static func names(of key: String) -> [String] {
        key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }
}
