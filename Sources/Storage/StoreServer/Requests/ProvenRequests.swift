import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol
import Synchronization

/// A presigned request with a valid signature, and the data read from it.
struct ProvenRequest: Sendable {
    let dialect: any StoreDialect
    let target: RequestTarget
    let operation: StoreOperation
    let claims: CredentialClaims
    /// The expiry of the signature; the claims have an expiry of their own.
    let expiresAt: UnixTime
}

/// A cache of the latest presigned GETs and HEADs: clients that read an object in ranges repeat the same request hundreds of times.
///
/// The validity of a signature does not change while the process lives. The rights of its claims may, and are evaluated each time.
/// A request is cached only if nothing but method, target and Host is signed, so that no other field can make a difference: see
/// ``isOpen(_:)`` and ``SignatureScheme/signedFields``.
final class ProvenRequests: Sendable {
    private struct Key: Hashable {
        let method: String
        let target: String
        let host: String
    }

    /// The longest cached target in bytes; longer ones are verified each time.
    static let maximumTarget = 4096

    private let known: Lock<GenerationCache<Key, ProvenRequest>>

    init(capacity: Int = 512) {
        known = Lock(GenerationCache(capacity: capacity))
    }

    func find(_ head: HTTPRequestHead) -> ProvenRequest? {
        guard let key = Self.key(of: head) else { return nil }
        return known.withLock { $0.find(key) }
    }

    /// Caches a verified request, if it may represent further equal ones.
    func remember(
        _ head: HTTPRequestHead, _ authentication: Authentication, _ dialect: any StoreDialect,
        _ target: RequestTarget, _ operation: StoreOperation, _ claims: CredentialClaims
    ) {
        guard let expiresAt = authentication.expiresAt, let key = Self.key(of: head),
            authentication.scheme.signedFields.allSatisfy({ $0 == "host" })
        else { return }
        let proven = ProvenRequest(
            dialect: dialect, target: target, operation: operation, claims: claims, expiresAt: expiresAt)
        known.withLock { $0.keep(proven, for: key) }
    }

    private static func key(of head: HTTPRequestHead) -> Key? {
        guard head.method == "GET" || head.method == "HEAD", head.target.utf8.count <= maximumTarget,
            head.fields.fields.allSatisfy({ isOpen($0.name) })
        else { return nil }
        return Key(method: head.method, target: head.target, host: head.fields["host"] ?? "")
    }

    /// Whether signatures cover a field only if they name it.
    private static func isOpen(_ name: String) -> Bool {
        name != "authorization" && !["content-", "x-oss-", "x-amz-"].contains(where: name.hasPrefix)
    }
}
