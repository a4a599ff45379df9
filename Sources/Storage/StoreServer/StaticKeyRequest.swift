import HTTPTypes
import ObjectStore
import StoreProtocol

/// A request signed by a static key, with its bucket.
struct StaticKeyRequest {
    let key: StaticKey
    let bucket: StoreBucket
    let operation: StoreOperation
    let head: HTTPRequestHead
    let request: SignedRequest
    /// The signatures of the body's chunks, if they are signed.
    let signatures: ChunkSignatures?

    /// The origin of its changes, for the audit log.
    var origin: WriteOrigin { WriteOrigin(operation: operation.name, peer: head.peer) }

    /// Returns the stored key of an object in the bucket.
    ///
    /// - Throws: `accessDenied` if the static key may not access it.
    func stored(_ name: String, in bucket: StoreBucket) throws(StoreError) -> String {
        let stored = bucket.stored(name)
        guard key.reaches(stored) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name): the static key \(key.id) can only use objects below \(key.prefix) (its prefix).")
        }
        return stored
    }

    /// - Parameter prefix: the prefix of the list, as the client sent it.
    func requireList(_ prefix: String) throws(StoreError) {
        guard key.reaches(bucket.stored(prefix)) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name): the static key \(key.id) can only list objects below \(key.prefix): set a prefix.")
        }
    }

    func requireWrite() throws(StoreError) {
        guard key.access == .write else { throw Self.readOnly(key.id, operation.name) }
    }

    static func readOnly(_ id: String, _ operation: String) -> StoreError {
        StoreError(.accessDenied, "\(operation): the static key \(id) is read-only (access: \"read\").")
    }
}
