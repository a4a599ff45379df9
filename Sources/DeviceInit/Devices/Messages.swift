import Accounts
import Basics
import GatewayAPI
import Proto
import RPC

extension SuiteRecord {
    var message: DeviceSuite {
        DeviceSuite(
            name: ResourceName.suite(id), siteID: siteID, displayName: displayName, description: description,
            createdAt: Timestamp(createdAt), updatedAt: Timestamp(updatedAt),
            silentAfterHours: silentAfterHours.map { Int32(clamping: $0) })
    }
}

extension DeviceRecord {
    var message: Device {
        Device(
            name: ResourceName.device(id), deviceID: id, displayName: displayName, description: description,
            suite: suiteID.map(ResourceName.suite) ?? "", tags: tags, status: status, siteID: siteID ?? 0,
            sdkVersion: sdkVersion, platform: platform, initializedAt: initializedAt.map { Timestamp($0) },
            lastSeenAt: lastSeenAt.map { Timestamp($0) }, createdAt: Timestamp(createdAt),
            updatedAt: Timestamp(updatedAt), retiredAt: retiredAt.map { Timestamp($0) }, addressSerial: addressSerial,
            keyRotationRequestedAt: keyRotationRequestedAt.map { Timestamp($0) },
            silentAfterHours: silentAfterHours.map { Int32(clamping: $0) },
            silentSince: silentSince.map { Timestamp($0) })
    }

    private var status: DeviceStatus {
        if retiredAt != nil { return .retired }
        if isDisabled { return .disabled }
        return initializedAt == nil ? .registered : .initialized
    }
}

extension ListedDevice {
    var message: Device {
        var message = device.message
        message.lastUploadAt = lastUploadAt.map { Timestamp($0) }
        return message
    }
}

extension DeviceFilter {
    /// Reads the filter of a request.
    ///
    /// - Throws: INVALID_ARGUMENT with the field and the rule.
    init(_ request: ListDevicesRequest, at now: UnixTime) throws(RPCError) {
        self.init()
        if !request.suite.isEmpty { suiteID = try ResourceName.suiteID(request.suite, field: "suite") }
        if request.siteID != 0 { siteID = request.siteID }
        status = try request.status.filter
        silentSince = try Self.start(of: request.silentForSeconds, "silent_for_seconds", at: now)
        noUploadSince = try Self.start(of: request.noUploadForSeconds, "no_upload_for_seconds", at: now)
        lastSeenSince = try Self.time(request.lastSeenSince, "last_seen_since")
        lastSeenBefore = try Self.time(request.lastSeenBefore, "last_seen_before")
        try FieldRules.note(request.sdkVersion, field: "sdk_version", limit: 256)
        sdkVersion = request.sdkVersion
        isReportedSilent = request.reportedSilent
    }

    /// Ten years, in seconds.
    private static let longestSilence: Int64 = 3650 * 86_400

    /// Returns the time that is some seconds ago; `nil` for 0.
    private static func start(of seconds: Int64, _ field: String, at now: UnixTime) throws(RPCError) -> UnixTime? {
        guard (0...longestSilence).contains(seconds) else {
            throw .invalidArgument("\(field) must be 0 to \(longestSilence)")
        }
        return seconds > 0 ? now.adding(seconds: -seconds) : nil
    }

    private static func time(_ value: Timestamp?, _ field: String) throws(RPCError) -> UnixTime? {
        guard let value else { return nil }
        guard let time = value.time else { throw .invalidArgument("\(field) is not a valid time") }
        return time
    }
}

extension DeviceOrder {
    /// Reads a key, optionally followed by ` desc`; empty = by id.
    ///
    /// - Throws: INVALID_ARGUMENT for any other text.
    init(_ text: String) throws(RPCError) {
        self.init()
        guard !text.isEmpty else { return }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && parts[1] == "desc", let key = Key(rawValue: String(parts[0]))
        else {
            throw .invalidArgument(
                "order_by must be device_id, display_name or last_seen_at, with \" desc\" for the largest first")
        }
        self.key = key
        isDescending = parts.count == 2
    }
}

extension DeviceStatus {
    /// The filter of a list; `nil` = any.
    var filter: DeviceFilter.Status? {
        get throws(RPCError) {
            switch self {
            case .unspecified: nil
            case .registered: .registered
            case .initialized: .initialized
            case .disabled: .disabled
            case .retired: .retired
            case .unrecognized: throw .invalidArgument("status must be REGISTERED, INITIALIZED, DISABLED or RETIRED")
            }
        }
    }
}
