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
