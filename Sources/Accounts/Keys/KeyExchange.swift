import Basics
import Database
import GRPCWire
import GatewayAPI
package import RPC

/// Exchanges an API key's credential for an access token, without a commit, since all devices of a site may come back at once.
struct KeyExchange: Sendable {
    let database: Database
    let tokens: AccessTokens
    let deferred: DeferredRecords
    let proof: KeyProof

    /// An access token, and what a device is sent with it.
    struct Issue: Sendable {
        let token: (text: String, expiresAt: UnixTime)
        /// A serialized AddressAnnouncement; `nil` = none.
        var announcement: [UInt8]?
        /// Whether the device should fetch a new credential. A device that is sent an announcement moves first.
        var isRotationRequested = false
    }

    /// - Parameter serial: the last announcement of addresses that a device took; `nil` = its client does not read them.
    func exchange(
        _ credential: String, addressSerial serial: Int64?, peer: String, at now: UnixTime
    ) async throws -> Issue {
        let proven = try await proof.require(credential, peer: peer, at: now)
        let key = proven.key
        deferred.noteUse(of: key, at: now)
        var issue = Issue(token: tokens.issue(.apiKey, subject: key.id, epoch: key.epoch, at: now))
        if let serial, case .device(let device, _) = key.owner {
            issue.announcement = try await announcement(to: device, of: key.organizationID, above: serial, at: now)
            issue.isRotationRequested = proven.isRotationRequested && issue.announcement == nil
        }
        return issue
    }

    /// Returns the serialized announcement for a device that took another one last, which is noted; `nil` = there is no newer one.
    private func announcement(
        to device: String, of organizationID: Int64, above serial: Int64, at now: UnixTime
    ) async throws -> [UInt8]? {
        let (current, noted) = try await database.read { connection in
            let records = AddressRecords(connection)
            return (try records.find(organizationID: organizationID), try records.noted(of: device))
        }
        // Another number than the present one is noted once a minute of a device, whatever it sends.
        let isDue = serial == current?.serial || noted.map { abs(now.seconds - $0.at.seconds) >= 60 } ?? true
        if noted?.serial != serial, isDue {
            // For the gateway, and without waiting: no device waits for a token because of it.
            database.submit(
                for: nil,
                { connection in
                    try AddressRecords(connection).note(serial, of: device, organizationID: organizationID, at: now)
                }, reply: { _ in })
        }
        guard let current, current.serial > serial, !current.isWithdrawn, current.endsAt > now else { return nil }
        return current.message
    }
}

extension RPCError {
    /// The error's code in the audit log.
    package var code: String { detail?.rawValue ?? status.name }
}
