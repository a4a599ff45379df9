package import Basics
import Crypto
import Glibc
import HTTPClient
import JSON
package import StoreClient
import StoreProtocol

/// The gateway that uses a prefix.
package struct PrefixHolder: Sendable, Hashable, CustomStringConvertible {
    package let host: String
    package let process: Int64
    package let startedAt: UnixTime
    /// A random id of this start of the process.
    package let id: String
    /// Names the machine and the path of the data directory; empty = unknown.
    package let place: String
    /// Names the data directory itself, which only one process uses at a time, since the machine was started; empty = unknown.
    package let directory: String
    /// Names the gateways that use the prefix together; empty = this one uses it alone.
    package var group = ""
    /// The group that used the prefix before, unless it still renews it: the one whose database this gateway has the right to; empty =
    /// none. It is not recorded.
    package var formerGroup = ""

    package init(
        host: String, process: Int64, startedAt: UnixTime, id: String, place: String = "", directory: String = ""
    ) {
        self.host = host
        self.process = process
        self.startedAt = startedAt
        self.id = id
        self.place = place
        self.directory = directory
    }

    /// Makes the holder of this process.
    ///
    /// - Parameter dataDirectory: an absolute path, which this process has locked.
    package static func current(dataDirectory: String, clock: any WallClock) -> PrefixHolder {
        var name = [CChar](repeating: 0, count: 256)
        let isNamed = gethostname(&name, name.count - 1) == 0
        let bytes = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return PrefixHolder(
            host: isNamed ? String(decoding: bytes, as: UTF8.self) : "unknown",
            process: Int64(getpid()), startedAt: clock.now(), id: Random.hex(16),
            place: line(of: "/etc/machine-id").map { digest("\($0) \(dataDirectory)") } ?? "",
            directory: folder(dataDirectory).map(digest) ?? "")
    }

    /// Returns a text that names a folder since the machine was started.
    private static func folder(_ path: String) -> String? {
        var status = stat()
        guard let boot = line(of: "/proc/sys/kernel/random/boot_id"), stat(path, &status) == 0 else { return nil }
        return "\(boot) \(status.st_dev) \(status.st_ino)"
    }

    private static func digest(_ text: String) -> String { Hex.lower(Digest.sha256(Array(text.utf8)).prefix(16)) }

    private static func line(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A file of /proc has no size.
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, filled in
            filled = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
        let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    /// Whether `other` uses the prefix together with this gateway.
    func shares(with other: PrefixHolder) -> Bool { !group.isEmpty && group == other.group }

    /// Whether this is a gateway of the group before that of `other`.
    func isOfGroup(before other: PrefixHolder) -> Bool { !group.isEmpty && group == other.formerGroup }

    /// Whether this is an earlier process of the same data directory: it has ended, because `other` has the directory.
    func hasEnded(before other: PrefixHolder) -> Bool { !directory.isEmpty && directory == other.directory }

    /// Whether this is a process of the same data directory, perhaps before the machine was started again. It may also be a process of a
    /// copy of the machine, which still runs.
    func isAtPlace(of other: PrefixHolder) -> Bool { !place.isEmpty && place == other.place }

    package var description: String {
        "process \(process) on host \(host), started at \(RFC3339.text(UnixTime(seconds: startedAt.seconds)))"
    }
}

/// The contents of the object by which a gateway owns a prefix.
struct OwnerDocument: Sendable, Hashable {
    static let maximumBytes = 4 << 10
    private static let longestHost = 255

    let holder: PrefixHolder
    /// A random id of each renewal: a copy of a running machine renews with other ones.
    let renewal: String

    init(_ holder: PrefixHolder, renewal: String = Random.hex(16)) {
        self.holder = holder
        self.renewal = renewal
    }

    /// Reads a document; `nil` for any other object.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maximumBytes, let members = (try? JSONValue(parsing: bytes))?.members,
            let host = members["host"]?.stringValue, let process = members["process"]?.integer,
            let start = members["started_at"]?.stringValue, let startedAt = RFC3339.parse(start)?.time,
            let id = members["id"]?.stringValue, let renewal = members["renewal"]?.stringValue,
            host.utf8.count <= Self.longestHost, !host.hasControlCharacter()
        else { return nil }
        var holder = PrefixHolder(
            host: host, process: process, startedAt: startedAt, id: id, place: members["place"]?.stringValue ?? "",
            directory: members["directory"]?.stringValue ?? "")
        holder.group = members["group"]?.stringValue ?? ""
        self.init(holder, renewal: renewal)
    }

    var bytes: [UInt8] {
        var writer = JSONObjectWriter()
        writer.text("host", holder.host)
        writer.number("process", Int(holder.process))
        writer.text("started_at", RFC3339.milliseconds(holder.startedAt))
        writer.text("id", holder.id)
        writer.text("place", holder.place)
        writer.text("directory", holder.directory)
        writer.text("group", holder.group)
        writer.text("renewal", renewal)
        return writer.finished
    }
}

extension String {
    /// An ETag in the form that some stores compare.
    var withoutQuotes: String { trimming { $0 == "\"" } }
}

/// The object `owner` below a prefix.
package struct OwnerObject: Sendable {
    struct Found: Sendable {
        let etag: String
        /// `nil` if the object is not a document of a gateway.
        let document: OwnerDocument?
        /// The time since the last renewal, by the store's clock; `nil` if the store does not report it.
        let age: Duration?
    }

    enum Written: Sendable, Equatable {
        case stored(etag: String)
        /// The object is not the one that was to be replaced.
        case conflict
    }

    static let name = "owner"

    let key: String
    private let store: S3Client
    private let properties: S3Properties
    /// Whether the store honors the conditions of a PUT; otherwise the object is read before and after it.
    private let honorsConditions: Bool
    private let comparesBareTags: Bool

    /// - Parameters:
    ///   - store: see ``S3EngineConfiguration/controlClient(_:clock:)``.
    ///   - honorsConditions: see ``BucketReport/honorsConditions``.
    ///   - comparesBareTags: see ``BucketReport/comparesBareTags``.
    package init(
        _ configuration: S3EngineConfiguration, _ store: S3Client, honorsConditions: Bool,
        comparesBareTags: Bool = false
    ) {
        self.comparesBareTags = comparesBareTags
        key = configuration.prefix + Self.name
        self.store = store
        self.honorsConditions = honorsConditions
        var properties = S3Properties()
        properties.encryption = configuration.encryption
        properties.contentType = "application/json"
        self.properties = properties
    }

    /// The key with its bucket for people.
    var description: String { "\(store.bucket.name)/\(key)" }

    func read() async throws -> Found? {
        guard let content = try await store.contents(key, limit: 64 << 10) else { return nil }
        let age = content.answeredAt.flatMap { answeredAt in
            content.modifiedAt.map { max(.zero, answeredAt.duration(since: $0)) }
        }
        return Found(etag: content.etag, document: OwnerDocument(content.bytes), age: age)
    }

    /// Stores the document in place of the object with the ETag.
    ///
    /// - Parameter etag: `nil` = the object must not exist.
    func write(_ document: OwnerDocument, over etag: String?) async throws -> Written {
        guard honorsConditions else { return try await writeAndRead(document, over: etag) }
        var properties = properties
        properties.isNew = etag == nil
        properties.ifMatch = comparesBareTags ? etag?.withoutQuotes : etag
        do {
            return .stored(etag: try await store.store(key, document.bytes, properties).etag)
        } catch let refusal as StoreRefusal where refusal.kind == .preconditionFailed {
            return .conflict
        } catch let refusal as StoreRefusal where refusal.code == "NoSuchKey" {
            return .conflict
        }
    }

    private func writeAndRead(_ document: OwnerDocument, over etag: String?) async throws -> Written {
        guard try await store.contents(key, limit: 64 << 10)?.etag == etag else { return .conflict }
        _ = try await store.store(key, document.bytes, properties)
        guard let found = try await read(), found.document == document else { return .conflict }
        return .stored(etag: found.etag)
    }

    /// Removes the object if it has the ETag. A store without the condition removes it after the check by the caller.
    func remove(_ etag: String) async throws {
        do {
            try await store.delete(key, ifMatch: etag)
        } catch let refusal as StoreRefusal where refusal.status == 501 || refusal.code == "NotImplemented" {
            try await store.delete(key)
        }
    }
}
