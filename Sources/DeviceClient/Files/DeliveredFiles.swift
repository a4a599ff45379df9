package import Basics
import CLinux
import Crypto
import FoundationEssentials
import GatewayFormats
import Glibc
import HTTPClient
import StoreClient
import Synchronization

/// The record of the files that the gateway confirmed: `delivered.jsonl` in the device's folder, one line of JSON for each.
///
/// A line is on the disk before the upload's journal is removed, so that no file is uploaded twice after a power loss. The
/// newest lines count, and those of files that are still in their place; others are dropped when the record is opened. Only the
/// lines of the folder's present gateway and device count.
package final class DeliveredFiles: Sendable {
    /// One file that arrived.
    package struct Line: Codable, Sendable, Hashable {
        package let path: String
        /// The size in bytes.
        package let size: Int64
        /// The time of the last write, in nanoseconds since 1970.
        package let modified: Int64
        /// `nil` = not known.
        package let inode: UInt64?
        /// Nanoseconds since 1970, of the last change of content or status; `nil` = not known.
        package let changed: Int64?
        /// CRC-64/XZ of the bytes, decimal; `nil` = not known.
        package let crc64: String?
        /// Empty for a file whose bytes an earlier line tells, and whose inode or status has changed since.
        package let fileID: String
        /// Host and port of the gateway that confirmed it.
        package let gateway: String?
        /// The device that uploaded it; empty = not known.
        package let deviceID: String?
        /// Seconds since 1970, when the gateway confirmed it.
        package let at: Int64

        enum CodingKeys: String, CodingKey {
            case path, size, modified, inode, changed, crc64, gateway, at
            case fileID = "file_id"
            case deviceID = "device_id"
        }
    }

    /// The relation of a file to the record.
    package enum Match: Sendable, Hashable {
        case none
        /// A file of this path, size and time of change arrived, with another inode or time of the last change of its status, or
        /// these are not known: it may be another one where times are coarse or copied, and its bytes tell.
        case similar
        /// The file arrived in this state.
        case same
    }

    /// The number of lines that are kept even if their files do not exist any more.
    private static let newestKept = 100_000

    /// The index of the lines: digests of 8 bytes.
    private struct Known {
        /// Path, size and time of change.
        var states: Set<UInt64> = []
        /// With inode and time of the last change of the status.
        var identities: Set<UInt64> = []
        /// Members of `identities` whose checksum is not known.
        var unverifiable: Set<UInt64> = []
        /// State and checksum.
        var verified: Set<UInt64> = []
        /// The end of the last line that was read, in bytes, and the file that has it.
        var end: off_t = 0
        var inode: ino_t = 0

        mutating func insert(_ source: SourceIdentity, _ crc64: UInt64?) {
            states.insert(DeliveredFiles.state(source))
            identities.insert(DeliveredFiles.identity(source))
            guard let crc64 else {
                unverifiable.insert(DeliveredFiles.identity(source))
                return
            }
            verified.insert(DeliveredFiles.state(source, crc64: crc64))
        }
    }

    private let path: String
    private let gateway: String
    /// The addresses that the gateway has or had.
    private let gateways: Set<String>
    private let deviceID: String
    private let known: Lock<Known>

    /// Opens the record, and creates it if it is missing.
    package init(in folder: DeviceFolder) throws(DeviceFolder.Failure) {
        path = folder.deliveredPath
        let gateway = "\((try folder.endpoints() ?? Endpoints()).gateway.address)"
        gateways = Set(try folder.addressHistory().former + [gateway])
        let deviceID = try folder.deviceID()
        (self.gateway, self.deviceID) = (gateway, deviceID)
        try Self.compact(path)
        let file = try Self.locked(path)
        defer { close(file) }
        known = Lock(Known())
        try known.withLock { (known) throws(DeviceFolder.Failure) in try read(file, &known) }
    }

    /// Reads the lines that were added since the last time, by this process or another.
    private func read(_ file: Int32, _ known: inout Known) throws(DeviceFolder.Failure) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .last("read", path) }
        // The index keeps the lines of a record that another file replaced.
        if known.inode != status.st_ino { (known.inode, known.end) = (status.st_ino, 0) }
        let end = try Self.forEachLine(file, path, from: known.end) { line, _ in
            guard isOurs(line) else { return }
            known.insert(line.source, line.crc64.flatMap { UInt64($0) })
        }
        known.end = end
    }

    /// Whether the folder's present device and gateway confirmed the line's file.
    private func isOurs(_ line: Line) -> Bool {
        line.gateway.map(gateways.contains) == true && line.deviceID == deviceID
    }

    /// Calls `body` with each line of the folder's present device and gateway, oldest first.
    func forEachLine(_ body: (Line) -> Void) throws(DeviceFolder.Failure) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .last("open", path) }
        defer { close(file) }
        try Self.forEachLine(file, path) { line, _ in if isOurs(line) { body(line) } }
    }

    /// Calls `body` with the index, after reading the lines that other processes added.
    private func withKnown<Result>(_ body: (Known) -> Result) -> Result {
        known.withLock { known in
            var status = stat()
            if lstat(path, &status) == 0, status.st_ino != known.inode || status.st_size != known.end {
                let file = open(path, O_RDONLY | O_CLOEXEC)
                // A record that cannot be read tells nothing more: files are uploaded once more rather than never.
                try? read(file, &known)
                close(file)
            }
            return body(known)
        }
    }

    /// Opens and locks the file at `path`; other processes may have replaced it, so this is repeated until the locked file is the
    /// one at the path.
    private static func locked(_ path: String) throws(DeviceFolder.Failure) -> Int32 {
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .last("open", path) }
            guard flock(file, LOCK_EX) == 0 else {
                let failure = DeviceFolder.Failure.last("lock", path)
                close(file)
                throw failure
            }
            if isAt(path, file) { return file }
            close(file)
        }
    }

    /// Whether nobody put another file in the place of the one that is open.
    static func isAt(_ path: String, _ file: Int32) -> Bool {
        var (named, opened) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(file, &opened) == 0 && named.st_ino == opened.st_ino
    }

    /// Number of files that the record knows.
    package var count: Int { withKnown { $0.identities.count } }

    /// Whether the file arrived in this state, under this path.
    package func contains(_ source: SourceIdentity) -> Bool { match(source) == .same }

    package func match(_ source: SourceIdentity) -> Match {
        let (identity, state) = (Self.identity(source), Self.state(source))
        return withKnown {
            if $0.identities.contains(identity) { return .same }
            return $0.states.contains(state) ? .similar : .none
        }
    }

    /// Whether the bytes of a file that matches are those that arrived. Without the checksum of these, a file that is the same in
    /// every other respect counts as the one that arrived.
    ///
    /// - Parameter crc64: CRC-64/XZ of the bytes that the file has now.
    package func contains(_ source: SourceIdentity, crc64: UInt64) -> Bool {
        let (identity, content) = (Self.identity(source), Self.state(source, crc64: crc64))
        return withKnown { $0.verified.contains(content) || $0.unverifiable.contains(identity) }
    }

    /// Appends a line. It is durable on return.
    package func add(_ source: SourceIdentity, crc64: UInt64?, fileID: String, at time: UnixTime) throws(DeviceFolder
        .Failure)
    {
        let line = Line(
            path: source.path, size: source.size, modified: source.modified, inode: source.inode,
            changed: source.changed, crc64: crc64.map { String($0) }, fileID: fileID, gateway: gateway,
            deviceID: deviceID, at: time.seconds)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let encoded = try? encoder.encode(line) else { throw DeviceFolder.Failure("\(path) cannot be written") }
        try append([UInt8](encoded) + [0x0A])
        known.withLock { $0.insert(source, crc64) }
    }

    private func append(_ line: [UInt8]) throws(DeviceFolder.Failure) {
        let descriptor = try Self.locked(path)
        defer { close(descriptor) }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .last("write", path) }
        // A partial line left by a crash is ended, so that it does not spoil the next one.
        var last: UInt8 = 0x0A
        guard end == 0 || pread(descriptor, &last, 1, end - 1) == 1 else { throw .last("read", path) }
        let bytes = last == 0x0A ? line : [0x0A] + line
        let written = pwrite(descriptor, bytes, bytes.count, end)
        guard written == bytes.count, fdatasync(descriptor) == 0 else {
            let failure = DeviceFolder.Failure.last("write", path)
            // A full disk may store only the beginning of a line.
            if written > 0 { ftruncate(descriptor, end) }
            throw failure
        }
        if end == 0 {
            do throws(PrivateFile.Failure) {
                try PrivateFile.synchronizeFolder(Path.folder(of: path))
            } catch {
                throw DeviceFolder.Failure("cannot write \(path): \(error.reason)")
            }
        }
    }

    /// Calls `body` with each line of the record, oldest first.
    package static func forEach(in folder: DeviceFolder, _ body: (Line) -> Void) throws(DeviceFolder.Failure) {
        let file = open(folder.deliveredPath, O_RDONLY | O_CLOEXEC)
        if file < 0, errno == ENOENT { return }
        guard file >= 0 else { throw .last("open", folder.deliveredPath) }
        defer { close(file) }
        try forEachLine(file, folder.deliveredPath) { line, _ in body(line) }
    }

    // MARK: Lines

    /// Reads the lines up to the last line break.
    ///
    /// - Parameter start: where a line begins.
    /// - Returns: the end of the last line.
    @discardableResult private static func forEachLine(
        _ descriptor: Int32, _ path: String, from start: off_t = 0, _ body: (Line, ArraySlice<UInt8>) -> Void
    ) throws(DeviceFolder.Failure) -> off_t {
        var rest: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 256 * 1024)
        var place = start
        let decoder = JSONDecoder()
        while true {
            let count = pread(descriptor, &block, block.count, place)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { return place - off_t(rest.count) }
            place += off_t(count)
            rest += block[..<count]
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: 0x0A) {
                // A line whose bytes were lost in a power loss is ignored: its file is uploaded again.
                let text = rest[start..<end]
                if let line = try? decoder.decode(Line.self, from: Data(text)) { body(line, text) }
                start = end + 1
            }
            rest.removeSubrange(..<start)
        }
    }

    /// Removes the oldest lines of files that do not exist any more, if there are more than twice as many lines as are kept.
    private static func compact(_ path: String) throws(DeviceFolder.Failure) {
        let file = open(path, O_RDWR | O_CLOEXEC)
        if file < 0, errno == ENOENT { return }
        guard file >= 0 else { throw .last("open", path) }
        defer { close(file) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return }
        var count = 0
        try forEachLine(file, path) { _, _ in count += 1 }
        guard count > 2 * newestKept else { return }
        var kept: [UInt8] = []
        var number = 0
        try forEachLine(file, path) { line, text in
            number += 1
            var status = stat()
            if number > count - newestKept || lstat(line.path, &status) == 0 { kept += text + [0x0A] }
        }
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(kept, to: path)
        } catch {
            throw DeviceFolder.Failure("cannot write \(path): \(error.reason)")
        }
    }

    private static func identity(_ source: SourceIdentity) -> UInt64 {
        digest(
            "\(source.path)\u{0}\(source.size)\u{0}\(source.modified)\u{0}\(source.inode)\u{0}\(source.changed ?? 0)")
    }

    private static func state(_ source: SourceIdentity, crc64: UInt64? = nil) -> UInt64 {
        let content = crc64.map { "\u{0}\($0)" } ?? ""
        return digest("\(source.path)\u{0}\(source.size)\u{0}\(source.modified)\(content)")
    }

    /// The first 64 bits of a digest: two of 100,000 files are the same by chance once in 10^9 devices.
    private static func digest(_ text: String) -> UInt64 {
        Digest.sha256(Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension DeliveredFiles.Line {
    /// The file without the number of its file system, which a restart of the machine may change.
    var source: SourceIdentity {
        SourceIdentity(path: path, size: size, modified: modified, device: 0, inode: inode ?? 0, changed: changed)
    }
}

extension SourceIdentity {
    /// CRC-64/XZ of the bytes that the file has now; `nil` where it cannot be read, or is not in this state any more.
    package func contentChecksum(followsLinks: Bool = false) async -> UInt64? {
        try? await Worker.disk.run {
            let file = try FileReader(path, followsLinks: followsLinks)
            guard change(to: try SourceIdentity(file)) == nil else { return nil }
            let digest = try file.digest(of: 0..<size)
            return change(to: try SourceIdentity(file)) == nil ? digest?.crc64 : nil
        }
    }
}
