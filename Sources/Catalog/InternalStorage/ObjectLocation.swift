import GatewayAPI
import Proto
import RPC
import StoreProtocol

/// The bucket and the key of an object in a request.
struct ObjectLocation: Sendable, Hashable {
    let bucket: String
    /// The key, without percent-encoding.
    let key: String

    /// - Throws: INVALID_ARGUMENT for an invalid bucket or key.
    init(_ object: StorageObject?) throws(RPCError) {
        guard let object else { throw .invalidArgument("object must be set") }
        guard ObjectName.isBucket(object.bucket) else {
            throw .invalidArgument(
                "object.bucket must be 3 to 63 of a-z, 0-9, hyphens and dots, and begin and end with a letter or digit")
        }
        guard ObjectName.isPortableKey(object.objectKey) else {
            throw .invalidArgument(
                "object.object_key must be 1 to 1023 bytes, must not begin with / and must not contain backslashes,"
                    + " control characters or the segments . and ..")
        }
        bucket = object.bucket
        key = object.objectKey
    }

    var message: StorageObject { StorageObject(bucket: bucket, objectKey: key) }

    /// The error of a read of an object in the trash.
    static var isTrashed: RPCError { .failedPrecondition("the object is in the trash: restore it first") }

    /// Returns the object's name in the audit log.
    ///
    /// - Parameter access: the requested rights: `read`, `write`, `read-write`.
    func auditName(_ access: String) -> String { "\(access)/\(bucket)/\(key)" }
}
