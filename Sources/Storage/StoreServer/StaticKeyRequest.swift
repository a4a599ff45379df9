import HTTPTypes
import ObjectStore
import StoreProtocol

/// A request that a static key signed, with the bucket that it is about.
struct StaticKeyRequest {
    let key: StaticKey
    let bucket: StoreBucket
    let operation: StoreOperation
    let head: HTTPRequestHead
    let request: SignedRequest
    /// The signatures of the body's chunks, where they are signed.
    let signatures: ChunkSignatures?

    /// What the audit log says of it.
    var origin: WriteOrigin { WriteOrigin(operation: operation.name, peer: head.peer) }

    /// The stored key of an object of the bucket.
    ///
    /// - Throws: `accessDenied` for one that the static key does not reach.
    func stored(_ name: String, in bucket: StoreBucket) throws(StoreError) -> String {
        let stored = bucket.stored(name)
        guard key.reaches(stored) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name): the static key \(key.id) can only use objects below \(key.prefix) (its prefix).")
        }
        guard ObjectName.isKey(stored) else {
            throw StoreError(
                .invalidObjectName, "The object name is not valid: with its bucket's prefix it is too long.")
        }
        return stored
    }

    /// - Parameter prefix: of a list, as the client says it.
    func requireList(_ prefix: String) throws(StoreError) {
        guard key.reaches(bucket.stored(prefix)) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name): the static key \(key.id) can only list objects below \(key.prefix): set a prefix.")
        }
    }

    func requireWrite() throws(StoreError) {
        guard key.access == .write else {
            throw StoreError(
                .accessDenied, "\(operation.name): the static key \(key.id) is read-only (access: \"read\").")
        }
    }
}
