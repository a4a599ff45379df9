import HTTPTypes
import ObjectStore
import StoreProtocol

/// A request whose signature is valid, with what it asks for and the rights of its signer. ``StoreAdmission`` makes it, in whatever
/// way the request was signed.
struct StoreRequest {
    let head: HTTPRequestHead
    let signed: SignedRequest
    let dialect: any StoreDialect
    let operation: StoreOperation
    /// The static key that signed it; `nil` = temporary credentials.
    var staticKey: StaticKey?
    /// The verifier of the body's chunks, if they are signed.
    var chunkSignatures: ChunkSignatures?
    /// The bucket that a static key's request names, under the client's name of it; `nil` = none.
    var bucket: StoreBucket?
    /// The rights to the object that the request names; `nil` = it names none.
    var access: StoreAccess?

    /// Whether it reads the object itself, and not only its parts.
    var readsObject: Bool { operation.command == .getObject || operation.command == .headObject }

    /// Whether its commit follows soon: it stores a body that is not longer than a block.
    var commitsSoon: Bool {
        switch operation.name {
        case .putObject, .uploadPart:
            if case .length(let length) = head.framing { length <= 1 << 20 } else { false }
        default: false
        }
    }

    /// The origin of a static key's changes, for the audit log.
    var origin: WriteOrigin? {
        staticKey.map { _ in WriteOrigin(operation: operation.name.rawValue, peer: head.peer) }
    }

    /// Returns the declared body.
    func payload() throws(StoreError) -> Payload {
        try dialect.payload(of: signed, head.framing, chunkSignatures)
    }

    /// Returns the properties of the new object.
    func header() throws -> ObjectHeader {
        let fields = dialect.options(of: signed)
        return ObjectHeader(
            contentType: signed.fields["content-type"].flatMap { $0.isEmpty ? nil : $0 },
            kept: try KeptFields(fields, dialect.names),
            condition: try WriteCondition(fields), etags: dialect.etags)
    }
}

/// The parts that an operation requires; the table of operations makes sure that its requests have them.
extension StoreRequest {
    var requiredAccess: StoreAccess {
        get throws(StoreError) {
            guard let access else { throw .notImplemented(operation.name) }
            return access
        }
    }

    /// The key and the bucket of an operation on a bucket.
    var requiredBucket: (key: StaticKey, bucket: StoreBucket) {
        get throws(StoreError) {
            guard let staticKey, let bucket else { throw .notImplemented(operation.name) }
            return (staticKey, bucket)
        }
    }
}

/// The rights of static keys beyond those to one object.
extension StoreRequest {
    /// Returns the stored key of an object in a bucket.
    ///
    /// - Throws: `accessDenied` if the static key may not access it.
    func stored(_ name: String, in bucket: StoreBucket, for key: StaticKey) throws(StoreError) -> String {
        let stored = bucket.stored(name)
        guard key.reaches(stored) else {
            throw StoreError(
                .accessDenied,
                """
                \(operation.name.rawValue): the static key \(key.id) can only use objects below \(key.prefix) (its prefix).
                """)
        }
        return stored
    }

    /// - Parameter prefix: the prefix of the list, as the client sent it.
    func requireList(_ prefix: String, of bucket: StoreBucket, for key: StaticKey) throws(StoreError) {
        guard key.reaches(bucket.stored(prefix)) else {
            throw StoreError(
                .accessDenied,
                """
                \(operation.name.rawValue): the static key \(key.id) can only list objects below \(key.prefix): set a \
                prefix.
                """)
        }
    }

    func requireWrite(by key: StaticKey) throws(StoreError) {
        guard key.access == .write else { throw .readOnly(key.id, operation.name.rawValue) }
    }
}

extension StoreError {
    /// - Parameter id: of the static key.
    static func readOnly(_ id: String, _ operation: String) -> StoreError {
        StoreError(.accessDenied, "\(operation): the static key \(id) is read-only (access: \"read\").")
    }
}
