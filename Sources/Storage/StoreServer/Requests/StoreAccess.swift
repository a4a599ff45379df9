import Basics
import Crypto
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// The rights of a request's signer to an object, decided when the header has arrived. A body may take longer than the credentials
/// are valid.
struct StoreAccess {
    /// The decision, with the rows that were read for it.
    let decided: DecidedAccess
    /// The part that the request uploads.
    var part: PartBody?
    /// Whether the request's commit records the activity of the upload.
    var commitRecordsActivity = false
    /// The rights to the source of a copy; the error is for a request that may write the copy.
    var source: Result<DecidedAccess?, StoreError>?
    /// The request, where a static key signed it.
    var origin: WriteOrigin?

    var claims: CredentialClaims { decided.claims }

    func requireRead() throws(StoreError) {
        guard claims.operations.contains(.read) else { throw Self.notPermitted }
    }

    /// - Returns: the permission to confirm in the commit.
    func requireWrite(_ policy: any AccessPolicy) throws(StoreError) -> WritePermit {
        guard claims.operations.contains(.write) else {
            guard let origin, case .staticKey(let id) = claims.subject else { throw Self.notPermitted }
            throw .readOnly(id, origin.operation)
        }
        guard case .allowed = decided.decision else { throw Self.notPermitted }
        return WritePermit(
            claims: claims, policy: policy, origin: origin, recordsActivity: commitRecordsActivity)
    }

    private static let notPermitted = StoreError(.accessDenied, "These credentials do not permit this operation.")
}

/// The declared body of a part, with its place among the writers of the part.
struct PartBody {
    let start: PartStart
    /// The body; its error is reported only to clients that may write the part.
    let payload: Result<Payload, StoreError>
}
