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

/// The check of an API key's credential, and of the key's state. A device's next credential becomes the key's when it is used first.
struct KeyProof: Sendable {
    /// A key whose credential is right, and which may be used.
    struct Proven: Sendable {
        let key: APIKeyRecord
        let isRotationRequested: Bool
    }

    private struct Known: Sendable {
        let key: APIKeyRecord
        let rotation: KeyRotation?
    }

    private enum Match {
        case current
        case next
    }

    let database: Database
    let check: CredentialCheck
    let unprovenCalls: UnprovenCalls

    /// - Throws: AUTH_INVALID_CREDENTIAL, or the reason why the key may not be used.
    func require(_ text: String, peer: String, at now: UnixTime) async throws -> Proven {
        guard let credential = OpaqueToken(.apiKey, text: text) else { throw CredentialCheck.invalid }
        let known = try await database.read { connection in
            // Both are read for an unknown key, too, so that it takes as long.
            let rotation = try KeyRotationRecords(connection).find(keyID: credential.id)
            return try APIKeyRecords(connection).find(id: credential.id).map { Known(key: $0, rotation: rotation) }
        }
        let (found, match) = try require(credential, of: known, peer: peer, at: now)
        try requireUsable(found.key, at: now)
        if match == .current { return Proven(key: found.key, isRotationRequested: found.rotation != nil) }
        return Proven(key: try await promote(credential, peer: peer, at: now), isRotationRequested: false)
    }

    /// Checks the secret; counts a wrong one for a device's key among the calls that only name the device.
    private func require(
        _ credential: OpaqueToken, of known: Known?, peer: String, at now: UnixTime
    ) throws(RPCError) -> (known: Known, match: Match) {
        do {
            return try check.require(credential, of: known, match: Self.match, peer: peer, at: now)
        } catch {
            if case .device(let id, _) = known?.key.owner {
                unprovenCalls.note(id, from: peer, reason: error.code, at: now)
            }
            throw error
        }
    }

    /// Compares with both digests, whether or not the first is equal.
    private static func match(_ known: Known, _ digest: [UInt8]) -> Match? {
        let isCurrent = constantTimeEqual(digest, known.key.digest)
        let isNext = constantTimeEqual(digest, known.rotation?.nextDigest ?? [])
        return isCurrent ? .current : isNext ? .next : nil
    }

    /// Counts a refused call, whose credential is right.
    private func requireUsable(_ key: APIKeyRecord, at now: UnixTime) throws(RPCError) {
        guard let refusal = key.usability(at: now).refusal else { return }
        check.deferred.noteRefusal(of: key, refusal, at: now)
        throw refusal
    }

    /// Makes the next credential the key's.
    private func promote(_ credential: OpaqueToken, peer: String, at now: UnixTime) async throws -> APIKeyRecord {
        let digest = credential.digest(pepper: check.pepper)
        return try await database.write { connection in
            let isPromoted = try KeyRotationRecords(connection).promote(digest, of: credential.id, at: now)
            // Another call with the same credential may have been faster.
            guard let key = try APIKeyRecords(connection).find(id: credential.id),
                constantTimeEqual(digest, key.digest)
            else { throw CredentialCheck.invalid }
            try requireUsable(key, at: now)
            if isPromoted {
                let entry = AuditEntry(
                    actor: key.principal.principal.name,
                    organization: try OrganizationRecords(connection).reference(id: key.organizationID),
                    action: "RotateCredential", target: "apiKeys/\(key.id)", peer: peer)
                try Audit.record(entry, at: now, in: connection)
            }
            return key
        }
    }
}
