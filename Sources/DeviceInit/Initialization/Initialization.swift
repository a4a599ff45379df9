import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import HTTPTypes
package import Proto
package import RPC
import Webhooks

/// Gives devices their keys. It is open to anyone who names a device, and therefore limited and audited.
struct Initialization: Sendable {
    struct Issued: Sendable {
        let credential: Secret
        let tags: [String: String]
    }

    /// A call that is within the limits.
    private struct Call: Sendable {
        let request: InitializationRule.Request
        let id: DeviceID
        let sdkVersion: String
        let platform: String
        let peer: String
        let traceparent: String?
        let at: UnixTime
    }

    /// A device that may receive a key, with the states on which the decision was based.
    private struct Admission: Sendable {
        let device: DeviceRecord
        let place: DeviceKeys.Place
        let keyStatus: DeviceKeys.KeyStatus
    }

    let database: Database
    let accounts: Accounts
    let outbox: Outbox
    let clock: any WallClock
    let policy: ReinitPolicy
    /// The addresses from which a device's key may be replaced; empty = all.
    let reinitAllow: [AddressRange]
    /// The limit of calls for one device from one address, whatever their result.
    let callsOfDeviceFromAddress: Throttle
    let unknownIDs: UnknownIDs

    func run(
        _ request: InitializationRule.Request, deviceID: String, sdkVersion: String, platform: String, peer: String,
        traceparent: String?
    ) async throws -> Issued {
        let now = clock.now()
        do {
            // Checked first, so that callers from other addresses learn nothing, not even which ids exist.
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
                // The result depends on the current state.
                return try await database.write { try issue(call, admitted(call, in: $0), in: $0) }
            }
        } catch let refusal as RPCError {
            accounts.deferred.noteDenial(request.rawValue, refusal.code, host: peer, at: now)
            throw refusal
        }
    }

    /// Gives the device its key if everything that the decision depends on is unchanged since it was read.
    private func issue(_ call: Call, _ admission: Admission, in connection: Connection) throws -> Issued {
        let (device, place) = (admission.device, admission.place)
        let isNoted = try DeviceRecords(connection).noteInitialization(
            of: device, sdkVersion: call.sdkVersion, platform: call.platform, at: call.at)
        guard isNoted else { throw DeviceKeys.ChangedSinceRead() }
        let credential = try accounts.deviceKeys.issue(
            to: place, by: admission.keyStatus, at: call.at, in: connection)
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

    /// Returns the device if the write may be tried; a refusal costs no commit.
    ///
    /// A caller who has asked for too many unknown ids does not learn whether the id exists: neither the response nor the amount of
    /// work differs between existing and unknown ids.
    private func admission(of call: Call, from address: String) async throws -> Admission {
        let verdict = unknownIDs.verdict(on: address, at: call.at)
        if case .refused(let wait) = verdict { throw Self.limited(wait) }
        do {
            return try await database.read { try admitted(call, in: $0) }
        } catch let refusal as RPCError {
            if refusal.detail == .deviceNotFound {
                unknownIDs.note(call.id.text, from: address, at: call.at)
            } else {
                accounts.unprovenCalls.note(call.id.text, from: call.peer, reason: refusal.code, at: call.at)
            }
            if case .unexplained(let wait) = verdict { throw Self.limited(wait) }
            throw refusal
        }
    }

    /// Returns the device if it may receive a key now.
    private func admitted(_ call: Call, in connection: ReadConnection) throws -> Admission {
        let found = try DeviceRecords(connection).find(call.id)
        // Also read for an unknown device, so that it takes as long.
        let keyStatus = try accounts.deviceKeys.keyStatus(
            of: call.id.text, atSite: found?.siteID ?? 0, organizationID: found?.organizationID ?? 0, at: call.at,
            in: connection)
        guard let device = found else { throw Self.notFound(call.id) }
        let refusal = InitializationRule.refusal(
            of: call.request, device, siteStatus: keyStatus.siteStatus, key: keyStatus.key, policy: policy, at: call.at)
        guard refusal == nil, let place = device.place else {
            throw refusal ?? RPCError(.deviceNotReady, "device \(device.id) is not ready: it is not in a suite")
        }
        do {
            // A client refuses a response with more tags, and would be left without a key.
            try TagRules.check(device.tags, field: "tags", maximum: TagRules.maximumOfDevice)
        } catch {
            throw RPCError.failedPrecondition("the tags of device \(device.id) are not valid: \(error.message)")
        }
        return Admission(device: device, place: place, keyStatus: keyStatus)
    }

    private static func notFound(_ id: DeviceID) -> RPCError {
        RPCError(.deviceNotFound, "device \(id.text) does not exist")
    }

    private static func limited(_ wait: Int) -> RPCError {
        RPCError(.rateLimited, "too many calls were made: try again later", retryAfterMilliseconds: wait)
    }
}

/// Counts the unknown device ids that each address asks for, since an attacker who tries ids would find devices that wait for their
/// first key.
///
/// Each id is counted once a minute. Devices behind a shared address ask for their own ids and are not counted, and a few
/// unregistered ones do not exclude the others: up to the second limit, a device that may receive a key gets it.
struct UnknownIDs: Sendable {
    enum Verdict: Sendable, Hashable {
        case admitted
        /// The address gets a key or a refusal without a reason; the value is the milliseconds until reasons are given again.
        case unexplained(Int)
        /// The milliseconds until the address is admitted again.
        case refused(Int)
    }

    /// The multiple of the first limit at which an address gets no keys either.
    static let factor = 10

    private let explained: Throttle
    private let admitted: Throttle
    private let repeats = Throttle(perMinute: 1)

    /// - Parameter perMinute: the number of distinct unknown ids a minute for which an address is told the reason; above 0.
    init(perMinute: Int) {
        explained = Throttle(perMinute: perMinute)
        admitted = Throttle(perMinute: perMinute * Self.factor)
    }

    /// - Parameter address: normalized by `AddressRange.countedAsOne`.
    func verdict(on address: String, at now: UnixTime) -> Verdict {
        if let wait = admitted.wait(for: address, at: now) { return .refused(wait) }
        if let wait = explained.wait(for: address, at: now) { return .unexplained(wait) }
        return .admitted
    }

    /// Counts an unknown id.
    func note(_ id: String, from address: String, at now: UnixTime) {
        guard repeats.take("\(address) \(id)", at: now) == nil else { return }
        _ = explained.take(address, at: now)
        _ = admitted.take(address, at: now)
    }
}

/// The gRPC service that gives a device its first key, and a new one if the first was lost. It needs no token.
package struct DeviceInitService: DeviceInitServiceHandler {
    let initialization: Initialization
    let keptResponses: KeptResponses

    package func initDevice(_ request: InitDeviceRequest, context: CallContext) async throws -> InitDeviceResponse {
        try await issue(
            .initialize, to: request.deviceID, sdkVersion: request.sdkVersion, platform: request.platform, context)
    }

    package func reinitDevice(_ request: ReinitDeviceRequest, context: CallContext) async throws -> InitDeviceResponse {
        try await issue(
            .reinitialize, to: request.deviceID, sdkVersion: request.sdkVersion, platform: request.platform, context)
    }

    private func issue(
        _ request: InitializationRule.Request, to deviceID: String, sdkVersion: String, platform: String,
        _ context: CallContext
    ) async throws -> InitDeviceResponse {
        try await keptResponses.once(context) {
            try await initialization.run(
                request, deviceID: deviceID, sdkVersion: sdkVersion, platform: platform, peer: context.peer.host,
                traceparent: context.trace?.traceparent)
        } respond: {
            InitDeviceResponse(apiKey: $0.credential.exposedText, tags: $0.tags)
        }
    }
}
