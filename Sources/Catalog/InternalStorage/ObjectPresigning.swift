import Accounts
import Basics
import Capability
import Database
import GatewayAPI
import ObjectStore
import Proto
import RPC
import StoreProtocol

/// The rules of PresignObject.
struct ObjectPresigning: Sendable {
    private static let lifetimes: ClosedRange<Duration> = .seconds(1) ... .hours(1)

    let database: Database
    let store: ObjectStore
    let policy: any AccessPolicy
    let uploadOfKey: UploadOfKey
    let endpoint: StoreEndpoint
    let clock: any WallClock

    struct Presigned: Sendable {
        /// The request for reading; `nil` = not requested.
        let read: PresignedRequest?
        let write: PresignedRequest?
        let expiresAt: UnixTime
    }

    func presign(
        _ location: ObjectLocation, _ mode: PresignAccessMode, lifetime: Duration, by caller: ServiceCaller
    ) async throws -> Presigned {
        let access = try Access(mode)
        guard Self.lifetimes.contains(lifetime) else {
            throw RPCError.invalidArgument("expires_in_seconds must be 1 to 3600, not \(lifetime.wholeSeconds)")
        }
        let now = clock.now()
        let expiresAt = UnixTime(seconds: now.seconds).adding(lifetime)
        let holder = CredentialClaims.Holder(
            caller.user.map { .system(userID: $0.userID, epoch: $0.epoch) } ?? .certificate, of: caller.user?.home.id)
        // Committed before the response: no use of a URL may be missing from the log.
        let claims = try await database.write(mayUseReserve: !access.operations.contains(.write)) { connection in
            let object = try store.object(bucket: location.bucket, key: location.key, in: connection)
            let uploadID =
                try object?.uploadID
                ?? uploadOfKey(location.bucket, location.key, connection)
                ?? DirectObject.uploadID(bucket: location.bucket, key: location.key)
            let claims = CredentialClaims(
                uploadID: uploadID, bucket: location.bucket, key: location.key, operations: access.operations,
                expiresAt: expiresAt, holder: holder)
            try Self.check(access, location, exists: object != nil, try policy.decide(claims, in: connection))
            if let object, try ObjectRecords(connection).object(uploadID: object.uploadID)?.trashedAt != nil {
                throw ObjectLocation.isTrashed
            }
            try Audit.record(caller.did(to: location.auditName(access.rawValue)), at: now, in: connection)
            return claims
        }
        let validity = CredentialIssuer.Validity(from: clock.now(), for: lifetime)
        return Presigned(
            read: access.operations.contains(.read)
                ? try store.issuer.presignedGet(claims, at: endpoint, validity) : nil,
            write: access.operations.contains(.write)
                ? try store.issuer.presignedPut(claims, at: endpoint, validity) : nil,
            expiresAt: expiresAt)
    }

    private static func check(
        _ access: Access, _ location: ObjectLocation, exists: Bool, _ decision: AccessDecision
    ) throws(RPCError) {
        if access == .read {
            guard exists else { throw .notFound("object \(location.key) does not exist in bucket \(location.bucket)") }
            guard case .noSuchUpload = decision else { return }
            throw .failedPrecondition("the object is corrupted: its bytes no longer match its checksum")
        }
        guard !exists else {
            throw .failedPrecondition("\(location.key) is a finished object and cannot be overwritten")
        }
        guard case .allowed = decision else {
            throw .failedPrecondition("\(location.key) belongs to an upload that no longer accepts data")
        }
    }
}

/// The requested access, in the audit log's words.
private enum Access: String {
    case read
    case write
    case readWrite = "read-write"

    init(_ mode: PresignAccessMode) throws(RPCError) {
        switch mode {
        case .read: self = .read
        case .write: self = .write
        case .readWrite: self = .readWrite
        case .unspecified, .unrecognized:
            throw .invalidArgument("access_mode must be READ, WRITE or READ_WRITE")
        }
    }

    var operations: CredentialClaims.Operations {
        switch self {
        case .read: .read
        case .write: .write
        case .readWrite: [.read, .write]
        }
    }
}
