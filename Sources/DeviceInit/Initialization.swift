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

    /// One call that passed the limits.
    private struct Call: Sendable {
        let request: InitializationRule.Request
        let id: DeviceID
        let sdkVersion: String
        let platform: String
        let peer: String
        let traceparent: String?
        let at: UnixTime
    }

    /// A device that may be given a key, and what that was decided by.
    private struct Admission: Sendable {
        let device: DeviceRecord
        let place: DeviceKeys.Place
        let standing: DeviceKeys.Standing
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
                throw RPCError.permissionDenied("ReinitDevice is not allowed from this address")
            }
            let id = try DeviceID(deviceID)
            try FieldRules.note(sdkVersion, field: "sdk_version", limit: 256)
            try FieldRules.note(platform, field: "platform", limit: 256)
            let address = AddressRange.countedAsOne(peer)
            if let wait = callsOfDeviceFromAddress.take("\(id.text) \(address)", at: now) { throw Self.limited(wait) }
            let call = Call(
                request: request, id: id, sdkVersion: sdkVersion, platform: platform, peer: peer,
                traceparent: traceparent, at: now)
            let admission = try await admission(of: call, from: address)
            do {
                return try await database.write { try issue(call, admission, in: $0) }
            } catch is DeviceKeys.ChangedSinceRead {
                // What the device is told is decided by what is there now.
                return try await database.write { try issue(call, admitted(call, in: $0), in: $0) }
            }
        } catch let refusal as RPCError {
            accounts.deferred.noteDenial(request.rawValue, refusal.code, host: peer, at: now)
            throw refusal
        }
    }

    /// Gives the device its key, if all that admitted it is still as it was read: none of it is read again.
    private func issue(_ call: Call, _ admission: Admission, in connection: Connection) throws -> Issued {
        let (device, place) = (admission.device, admission.place)
        let isNoted = try DeviceRecords(connection).noteInitialization(
            of: device, sdkVersion: call.sdkVersion, platform: call.platform, at: call.at)
        guard isNoted else { throw DeviceKeys.ChangedSinceRead() }
        let credential = try accounts.deviceKeys.issue(
            to: place, by: admission.standing, at: call.at, in: connection)
        let organization = try Accounts.organization(place.organizationID, in: connection)
        let entry = AuditEntry(
            actor: "nobody", organization: organization, action: call.request.rawValue,
            target: ResourceName.device(device.id), peer: call.peer)
        try Audit.record(entry, at: call.at, in: connection)
        try outbox.record(
            .deviceInitialized(
                place, sdkVersion: call.sdkVersion, platform: call.platform,
                isReinit: call.request == .reinitialize, traceparent: call.traceparent),
            organization: organization, at: call.at, in: connection)
        return Issued(credential: credential, tags: device.tags)
    }

    /// The device, if the write may be tried; a refusal costs no commit.
    ///
    /// Checks the id without telling a caller who has asked for too many unknown ids whether it exists: neither the
    /// answer nor the work that it takes can ids that exist be told from others.
    private func admission(of call: Call, from address: String) async throws -> Admission {
        let verdict = unknownIDs.verdict(on: address, at: call.at)
        if case .refused(let wait) = verdict { throw Self.limited(wait) }
        do {
            return try await database.read { try admitted(call, in: $0) }
        } catch let refusal as RPCError {
            if refusal.detail == .deviceNotFound { unknownIDs.note(call.id.text, from: address, at: call.at) }
            if case .toldNothing(let wait) = verdict { throw Self.limited(wait) }
            throw refusal
        }
    }

    /// The device, if it may be given a key now.
    private func admitted(_ call: Call, in connection: Connection) throws -> Admission {
        let found = try DeviceRecords(connection).find(call.id)
        // Read also for an unknown device, so that it takes as long.
        let standing = try accounts.deviceKeys.standing(
            of: call.id.text, atSite: found?.siteID ?? 0, organizationID: found?.organizationID ?? 0, at: call.at,
            in: connection)
        guard let device = found else { throw Self.notFound(call.id) }
        let refusal = InitializationRule.refusal(
            of: call.request, device, siteStatus: standing.siteStatus, key: standing.key, policy: policy, at: call.at)
        guard refusal == nil, let place = device.place else {
            throw refusal ?? RPCError(.deviceNotReady, "device \(device.id) is not ready: it is not in a suite")
        }
        do {
            // A client refuses a reply with more, and would be left without a key.
            try TagRules.check(device.tags, field: "tags", maximum: TagRules.maximumOfDevice)
        } catch {
            throw RPCError.failedPrecondition("the tags of device \(device.id) are not valid: \(error.message)")
        }
        return Admission(device: device, place: place, standing: standing)
    }

    private static func notFound(_ id: DeviceID) -> RPCError {
        RPCError(.deviceNotFound, "device \(id.text) does not exist")
    }

    private static func limited(_ wait: Int) -> RPCError {
        RPCError(.rateLimited, "too many calls were made: try again later", retryAfterMilliseconds: wait)
    }
}
