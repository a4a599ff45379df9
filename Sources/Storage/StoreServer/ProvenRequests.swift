import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// A presigned request whose signature was found right, with what was read from it.
struct ProvenRequest: Sendable {
    let dialect: any StoreDialect
    let target: RequestTarget
    let operation: StoreOperation
    let claims: CredentialClaims
    /// The end of the signature; the claims have an end of their own.
    let expiresAt: UnixTime
}

/// The latest presigned GETs and HEADs: who reads an object range by range sends the same one hundreds of times.
///
/// What a signature proves does not change while the process lives. What its claims permit does, and is asked again each
/// time. Only requests are kept of which nothing is signed but method, target and Host, so that no other field can make
/// a difference: see ``isOpen(_:)`` and ``SignatureScheme/signedFields``.
final class ProvenRequests: Sendable {
    private struct Key: Hashable {
        let method: String
        let target: String
        let host: String
    }

    /// Bytes; a longer target is proven each time.
    static let maximumTarget = 4096

    private let known: Lock<GenerationCache<Key, ProvenRequest>>

    init(capacity: Int = 512) {
        known = Lock(GenerationCache(capacity: capacity))
    }

    func find(_ head: HTTPRequestHead) -> ProvenRequest? {
        guard let key = Self.key(of: head) else { return nil }
        return known.withLock { $0.find(key) }
    }

    /// To be called with what `authentication` proved. Keeps it where it may stand for the next such request.
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

    /// Whether no signature covers a field unless it names it.
    private static func isOpen(_ name: String) -> Bool {
        name != "authorization" && !["content-", "x-oss-", "x-amz-"].contains(where: name.hasPrefix)
    }
}
