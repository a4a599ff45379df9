import Accounts
import Basics
import Database
import GRPCWire
import GatewayAPI
import GatewayFormats
import Proto
import RPC

extension DeviceRegistry {
    /// Requests that devices replace their keys, in one transaction for all of them.
    ///
    /// - Throws: NOT_FOUND for a named device, suite or site that does not exist, FAILED_PRECONDITION for a named device without a key.
    func rotateKeys(of target: KeyRotationTarget, by caller: Caller) async throws -> KeyRotationCounts {
        let now = clock.now()
        return try await database.write { connection in
            let ids = try deviceIDs(of: target, caller, in: connection)
            let counts = try keys.requestRotation(of: ids, at: now, in: connection)
            try Audit.record(Self.audited(target, by: caller), at: now, in: connection)
            return counts
        }
    }

    private func deviceIDs(
        of target: KeyRotationTarget, _ caller: Caller, in connection: Connection
    ) throws -> [String] {
        var filter = DeviceFilter()
        switch target {
        case .devices(let ids):
            return try ids.map { id in
                let device = try device(id, of: caller, in: connection)
                guard try keys.state(of: device.id, at: clock.now(), in: connection) != nil else {
                    throw RPCError(
                        bare: .failedPrecondition, "\(ResourceName.device(device.id)) has no key to replace")
                }
                return device.id
            }
        case .suite(let id): filter.suiteID = try suite(id, of: caller, in: connection).id
        case .site(let id):
            guard try keys.siteStatus(id, organizationID: caller.organization.id, in: connection) != nil else {
                throw RPCError.notFound("site \(id) does not exist")
            }
            filter.siteID = id
        case .all: break
        }
        return try DeviceRecords(connection).ids(organizationID: caller.organization.id, filter: filter)
    }

    private static func audited(_ target: KeyRotationTarget, by caller: Caller) -> AuditEntry {
        switch target {
        case .devices(let ids): caller.did(to: ids.map(\.text), of: "devices")
        case .suite(let id): caller.did(to: ResourceName.suite(id))
        case .site(let id): caller.did(to: "sites/\(id)")
        case .all: caller.did(to: "devices")
        }
    }
}

/// The devices that are asked to replace their keys.
enum KeyRotationTarget: Sendable, Hashable {
    /// The largest number of named devices.
    static let maximumDevices = 1000

    case devices([DeviceID])
    case suite(Int64)
    case site(Int64)
    case all

    /// - Throws: INVALID_ARGUMENT unless exactly one field is set.
    init(_ request: RotateDeviceKeysRequest) throws(RPCError) {
        let fields = [!request.devices.isEmpty, !request.suite.isEmpty, request.siteID != 0, request.all]
        guard fields.filter({ $0 }).count == 1 else {
            throw .invalidArgument("exactly one of devices, suite, site_id and all must be set")
        }
        if !request.devices.isEmpty {
            self = .devices(try Self.devices(request.devices))
        } else if !request.suite.isEmpty {
            self = .suite(try ResourceName.suiteID(request.suite, field: "suite"))
        } else {
            self = request.all ? .all : .site(request.siteID)
        }
    }

    private static func devices(_ names: [String]) throws(RPCError) -> [DeviceID] {
        guard names.count <= maximumDevices else {
            throw .invalidArgument("devices must have at most \(maximumDevices) entries, not \(names.count)")
        }
        var seen: Set<DeviceID> = []
        var ids: [DeviceID] = []
        for (index, name) in names.enumerated() {
            let id = try ResourceName.deviceID(name, field: "devices[\(index)]")
            guard seen.insert(id).inserted else { throw .invalidArgument("devices[\(index)] repeats \(name)") }
            ids.append(id)
        }
        return ids
    }
}

extension KeyRotationCounts {
    var message: RotateDeviceKeysResponse { RotateDeviceKeysResponse(devices: devices, unaware: unaware) }
}
