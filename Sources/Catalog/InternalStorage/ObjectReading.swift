import Accounts
import Basics
import Database
import GatewayAPI
import ObjectStore
import RPC

/// The rules of ReadObject.
struct ObjectReading: Sendable {
    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    let configuration: InternalStorageConfiguration

    struct Contents: Sendable {
        let bytes: [UInt8]
        let contentType: String
        /// The entity tag in responses to HEAD.
        let etag: String
    }

    func read(
        _ location: ObjectLocation, maximumBytes: Int64, types: ContentTypeRanges, by caller: ServiceCaller
    ) async throws -> Contents {
        guard maximumBytes >= 1 else { throw RPCError.invalidArgument("max_bytes must be at least 1") }
        let limit = min(maximumBytes, configuration.maximumReadBytes)
        let now = clock.now()
        let (object, type) = try await database.write(mayUseReserve: true) { connection in
            guard let object = try store.object(bucket: location.bucket, key: location.key, in: connection) else {
                throw RPCError.notFound("object \(location.key) does not exist in bucket \(location.bucket)")
            }
            let listed = try ObjectRecords(connection).object(uploadID: object.uploadID)
            guard listed?.isBad != true, !object.isBad else { throw Self.bad }
            guard listed?.trashedAt == nil else { throw ObjectLocation.isTrashed }
            guard object.size <= limit else {
                let rule = limit == maximumBytes ? "max_bytes is" : "a response can hold at most"
                throw RPCError.failedPrecondition("the object has \(object.size) bytes, and \(rule) \(limit) bytes")
            }
            let type = object.contentType ?? ContentType.unknown
            guard types.contain(type) else {
                throw RPCError.failedPrecondition("the object's content type is \(type), which is not allowed")
            }
            try Audit.record(caller.did(to: location.auditName("read")), at: now, in: connection)
            return (object, type)
        }
        guard let bytes = try await store.contents(of: object) else { throw Self.bad }
        return Contents(bytes: bytes, contentType: type, etag: object.etag)
    }

    private static var bad: RPCError {
        .failedPrecondition("the object is corrupted: its bytes no longer match its checksum")
    }
}

/// The content types that a caller accepts: media ranges without parameters (RFC 9110, section 12.5.1).
struct ContentTypeRanges: Sendable, Hashable {
    private static let most = 32
    private static let longest = 255

    /// The ranges in lower case; empty = all.
    private let ranges: Set<String>

    /// - Throws: INVALID_ARGUMENT for text that is not `type/subtype`, `type/*` or `*/*`.
    init(_ texts: [String]) throws(RPCError) {
        guard texts.count <= Self.most else {
            throw .invalidArgument("allowed_content_types must have at most \(Self.most) entries, not \(texts.count)")
        }
        for (index, text) in texts.enumerated() where !Self.isRange(text) {
            throw .invalidArgument("allowed_content_types[\(index)] must be like text/plain, text/* or */*")
        }
        ranges = Set(texts.map { $0.lowercased() })
    }

    /// - Parameter contentType: parameters and letter case are ignored.
    func contain(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        let range = type.prefix { $0 != "/" } + "/*"
        return ranges.isEmpty || ranges.contains(type) || ranges.contains(String(range)) || ranges.contains("*/*")
    }

    private static func isRange(_ text: String) -> Bool {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        return halves.count == 2 && text.utf8.count <= longest && halves.allSatisfy(isToken)
            && (halves[0] != "*" || halves[1] == "*")
    }

    /// Whether the text is a token (RFC 9110, section 5.6.2).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isHTTPTokenCharacter }
    }
}
