import Accounts
import Basics
package import Capability
package import Database
package import GatewayAPI
package import ObjectStore
package import Proto
package import RPC
package import StoreProtocol

/// Finds the upload for which a key of a bucket was issued, whatever its state; `nil` for keys of other objects.
package typealias UploadOfKey = @Sendable (_ bucket: String, _ key: String, Connection) throws -> String?

/// The gRPC service InternalStorageService: access to any object of the store, for programs that the operator trusts with all of
/// them.
package struct InternalStorageService: InternalStorageServiceHandler {
    private let presigning: ObjectPresigning
    private let reading: ObjectReading

    /// - Parameters:
    ///   - policy: the store's own policy: a URL is issued only for what it would permit later.
    ///   - uploadOfKey: finds the upload for which a key was issued.
    ///   - endpoint: the public address of the store, with which presigned URLs begin.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, policy: any AccessPolicy,
        uploadOfKey: @escaping UploadOfKey, endpoint: StoreEndpoint,
        configuration: InternalStorageConfiguration = InternalStorageConfiguration()
    ) {
        let (database, clock) = (environment.database, environment.clock)
        presigning = ObjectPresigning(
            database: database, store: store, policy: policy, uploadOfKey: uploadOfKey, endpoint: endpoint, clock: clock
        )
        reading = ObjectReading(database: database, store: store, clock: clock, configuration: configuration)
    }

    package func presignObject(
        _ request: PresignObjectRequest, context: CallContext
    ) async throws -> PresignObjectResponse {
        let location = try ObjectLocation(request.object)
        let presigned = try await presigning.presign(
            location, request.accessMode, lifetime: .seconds(request.expiresInSeconds), by: try ServiceCaller(context))
        return PresignObjectResponse(
            object: location.message, read: presigned.read.map(PresignedOperation.init),
            write: presigned.write.map(PresignedOperation.init), expiresAtUnix: presigned.expiresAt.seconds)
    }

    package func readObject(_ request: ReadObjectRequest, context: CallContext) async throws -> ReadObjectResponse {
        let location = try ObjectLocation(request.object)
        let contents = try await reading.read(
            location, maximumBytes: request.maxBytes, types: try ContentTypeRanges(request.allowedContentTypes),
            by: try ServiceCaller(context))
        return ReadObjectResponse(
            object: location.message, content: contents.bytes, contentType: contents.contentType, etag: contents.etag)
    }
}

extension InternalStorageService: Capability {
    package static var settings: (any CapabilitySettings.Type)? { InternalStorageConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .systemAdminOrCertificate,
                [InternalStorageServiceMethods.presignObject, InternalStorageServiceMethods.readObject]
            )
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        if listener == .internalStorage { register(in: &router) }
    }
}

extension PresignedOperation {
    /// The operation needs no header fields.
    fileprivate init(_ request: PresignedRequest) {
        self.init(method: request.method, uri: request.url)
    }
}

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
