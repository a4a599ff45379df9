import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import HTTPTypes
import RPC
import Webhooks

/// Gives devices their keys. Open to anyone who names a device, and so limited and audited.
struct Initialization: Sendable {
    struct Issued: Sendable {
        let credential: Secret
        let tags: [String: String]
    }

    let database: Database
    let accounts: Accounts
    let outbox: Outbox
    let clock: any WallClock
    let policy: ReinitPolicy
    /// From where a device's key may be replaced; empty = from everywhere.
    let reinitAllow: [AddressRange]
    /// Calls for one device from one address, whatever comes of them.
    let callsOfDeviceFromAddress: Throttle
    let unknownIDs: UnknownIDs

    func run(
        _ request: InitializationRule.Request, deviceID: String, sdkVersion: String, platform: String, peer: String,
        traceparent: String?
    ) async throws -> Issued {
        let now = clock.now()
        do {
            // First, so that nothing is learnt from elsewhere: not even which ids there are.
            if request == .reinitialize && !reinitAllow.isEmpty && !reinitAllow.contain(peer) {
                throw RPCError.permissionDenied("ReinitDevice is not open to this address")
            }
            let id = try DeviceID(deviceID)
            try FieldRules.note(sdkVersion, field: "sdk_version", limit: 256)
            try FieldRules.note(platform, field: "platform", limit: 256)
            let address = AddressRange.countedAsOne(peer)
            if let wait = callsOfDeviceFromAddress.take("\(id.text) \(address)", at: now) { throw Self.limited(wait) }
            try await check(request, id, from: address, at: now)
            return try await database.write { connection in
                let device = try admitted(request, id, at: now, in: connection)
                let entry = AuditEntry(
                    actor: "nobody",
                    organization: try Accounts.organization(device.place.organizationID, in: connection),
                    action: request.rawValue, target: ResourceName.device(id.text), peer: peer)
                let credential = try accounts.deviceKeys.issue(to: device.place, at: now, in: connection)
                try DeviceRecords.noteInitialization(
                    id, sdkVersion: sdkVersion, platform: platform, at: now, in: connection)
                try Audit.record(entry, at: now, in: connection)
                try outbox.record(
                    .deviceInitialized(
                        device.place, sdkVersion: sdkVersion, platform: platform,
                        isReinit: request == .reinitialize, traceparent: traceparent), at: now, in: connection)
                return Issued(credential: credential, tags: device.tags)
            }
        } catch let refusal as RPCError {
            accounts.deferred.noteDenial(request.rawValue, refusal.code, host: peer, at: now)
            throw refusal
        }
    }

    /// Whether the write may be tried. Asked again inside it, where it counts; here a refusal costs no commit.
    ///
    /// Whoever has asked for too many unknown ids is told nothing but whether a key is given: neither by the answer nor by the
    /// work that it takes can ids that exist be told from others.
    private func check(
        _ request: InitializationRule.Request, _ id: DeviceID, from address: String, at now: UnixTime
    ) async throws {
        let verdict = unknownIDs.verdict(on: address, at: now)
        if case .refused(let wait) = verdict { throw Self.limited(wait) }
        do {
            _ = try await database.read { try admitted(request, id, at: now, in: $0) }
        } catch let refusal as RPCError {
            if refusal.detail == .deviceNotFound { unknownIDs.note(id.text, from: address, at: now) }
            if case .toldNothing(let wait) = verdict { throw Self.limited(wait) }
            throw refusal
        }
    }

    /// The device, if it may be given a key now.
    private func admitted(
        _ request: InitializationRule.Request, _ id: DeviceID, at now: UnixTime, in connection: Connection
    ) throws -> (place: DeviceKeys.Place, tags: [String: String]) {
        let found = try DeviceRecords.find(id, in: connection)
        // Read also for an unknown device, so that it takes as long.
        let siteStatus = try accounts.deviceKeys.siteStatus(
            found?.siteID ?? 0, organizationID: found?.organizationID ?? 0, in: connection)
        let key = try accounts.deviceKeys.state(of: id.text, at: now, in: connection)
        guard let device = found else { throw Self.notFound(id) }
        let refusal = InitializationRule.refusal(
            of: request, device, siteStatus: siteStatus, key: key, policy: policy, at: now)
        guard refusal == nil, let place = device.place else {
            throw refusal ?? RPCError(.deviceNotReady, "device \(id.text) is not ready: it is bound to no suite")
        }
        do {
            // A client refuses a reply with more, and would be left without a key.
            try TagRules.check(device.tags, field: "tags", maximum: TagRules.maximumOfDevice)
        } catch {
            throw RPCError.failedPrecondition("the tags of device \(id.text) break a rule: \(error.message)")
        }
        return (place, device.tags)
    }

    private static func notFound(_ id: DeviceID) -> RPCError {
        RPCError(.deviceNotFound, "there is no device \(id.text)")
    }

    private static func limited(_ wait: Int) -> RPCError {
        RPCError(.rateLimited, "too many calls: try again later", retryAfterMilliseconds: wait)
    }
}
