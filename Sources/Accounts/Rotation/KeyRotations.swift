import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import RPC

/// Gives devices that operators asked to replace their keys a new credential for the same key.
///
/// The old one works until the new one is used, so that a lost response costs nothing.
struct KeyRotations: Sendable {
    let database: Database
    let proof: KeyProof

    /// Returns a new credential, in the place of one that an earlier call returned.
    ///
    /// - Throws: FAILED_PRECONDITION if no rotation is requested.
    func rotate(_ credential: String, peer: String, at now: UnixTime) async throws -> Secret {
        let proven = try await proof.require(credential, peer: peer, at: now)
        guard proven.isRotationRequested else { throw Self.notRequested }
        let next = OpaqueToken(.apiKey, id: proven.key.id)
        let digest = next.digest(pepper: proof.check.pepper)
        let isStored = try await database.write { try KeyRotationRecords($0).setNext(digest, of: proven.key) }
        guard isStored else { throw Self.notRequested }
        return Secret(next.text)
    }

    private static var notRequested: RPCError {
        RPCError(
            bare: .failedPrecondition,
            "no operator requested a new key for this device: 'data-gateway device rotate' requests it")
    }
}
