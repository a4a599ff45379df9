import Accounts
import Basics
import Database
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for the device registry, for operators.
package struct DeviceManagementService: DeviceManagementServiceHandler {
    let registry: DeviceRegistry
    let diagnosis: Diagnosis
    let addresses: AddressAnnouncements
    let keptResponses: KeptResponses
    let pageTokens: PageTokens

    package func createDeviceSuite(
        _ request: CreateDeviceSuiteRequest, context: CallContext
    ) async throws -> DeviceSuite {
        try FieldRules.title(request.displayName, field: "display_name")
        try DeviceRules.description(request.description)
        return try await keptResponses.once(context) {
            try await registry.createSuite(
                siteID: request.siteID, displayName: request.displayName, description: request.description,
                by: try Caller(context))
        } respond: {
            $0.message
        }
    }

    package func getDeviceSuite(_ request: GetDeviceSuiteRequest, context: CallContext) async throws -> DeviceSuite {
        try await registry.suite(try ResourceName.suiteID(request.name, field: "name"), for: try Caller(context))
            .message
    }

    package func listDeviceSuites(
        _ request: ListDeviceSuitesRequest, context: CallContext
    ) async throws -> ListDeviceSuitesResponse {
        let caller = try Caller(context)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "suites|\(caller.user.userID)|\(caller.organization.id)|\(request.siteID)")
        let suites = try await registry.suites(
            siteID: request.siteID == 0 ? nil : request.siteID, page, for: caller)
        return ListDeviceSuitesResponse(
            deviceSuites: suites.rows.map(\.message),
            nextPageToken: page.next(after: suites) { String($0.id) })
    }

    package func updateDeviceSuite(
        _ request: UpdateDeviceSuiteRequest, context: CallContext
    ) async throws -> DeviceSuite {
        let caller = try Caller(context)
        let id = try ResourceName.suiteID(request.name, field: "name")
        if let displayName = request.displayName { try FieldRules.title(displayName, field: "display_name") }
        try DeviceRules.description(request.description ?? "")
        return try await registry.describeSuite(
            id, displayName: request.displayName, description: request.description,
            silence: try request.silentAfterHours.map(SilenceLimit.init), by: caller
        ).message
    }

    package func deleteDeviceSuite(
        _ request: DeleteDeviceSuiteRequest, context: CallContext
    ) async throws -> DeleteDeviceSuiteResponse {
        try await registry.deleteSuite(
            try ResourceName.suiteID(request.name, field: "name"), by: try Caller(context))
        return DeleteDeviceSuiteResponse()
    }

    package func registerDevice(_ request: RegisterDeviceRequest, context: CallContext) async throws -> Device {
        let caller = try Caller(context)
        let id = request.deviceID.isEmpty ? nil : try DeviceID(request.deviceID)
        try DeviceRules.displayName(request.displayName)
        try DeviceRules.description(request.description)
        try DeviceRules.tags(request.tags)
        let suiteID = request.suite.isEmpty ? nil : try ResourceName.suiteID(request.suite, field: "suite")
        return try await keptResponses.once(context) {
            try await registry.register(
                id,
                DeviceLabels(displayName: request.displayName, description: request.description, tags: request.tags),
                suiteID: suiteID, by: caller)
        } respond: {
            $0.message
        }
    }

    package func getDevice(_ request: GetDeviceRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        let device = try await registry.device(id, for: try Caller(context))
        var message = device.message
        message.diagnosis = try await diagnosis.diagnose(device)
        return message
    }

    package func listDevices(_ request: ListDevicesRequest, context: CallContext) async throws -> ListDevicesResponse {
        let caller = try Caller(context)
        let filter = try DeviceFilter(request, at: registry.clock.now())
        let order = try DeviceOrder(request.orderBy)
        let times = [request.lastSeenSince, request.lastSeenBefore].map { $0?.time?.microseconds ?? 0 }
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: """
                devices|\(caller.user.userID)|\(caller.organization.id)|\(request.suite)|\(request.siteID)|\
                \(filter.status?.rawValue ?? "")|\(request.silentForSeconds)|\(times)|\(request.orderBy)|\(request.sdkVersion)|\
                \(request.reportedSilent)|\(request.noUploadForSeconds)
                """)
        let devices = try await registry.devices(
            filter, by: order, withLastUpload: request.withLastUpload, page, for: caller)
        return ListDevicesResponse(
            devices: devices.rows.map(\.message), nextPageToken: page.next(after: devices) { $0.position.text })
    }

    package func getDeviceNames(
        _ request: GetDeviceNamesRequest, context: CallContext
    ) async throws -> GetDeviceNamesResponse {
        guard request.deviceIDs.count <= DeviceRules.mostNames else {
            throw RPCError.invalidArgument(
                "device_ids must have at most \(DeviceRules.mostNames) entries, not \(request.deviceIDs.count)")
        }
        guard Set(request.deviceIDs).count == request.deviceIDs.count else {
            throw RPCError.invalidArgument("device_ids must not contain a device twice")
        }
        for id in request.deviceIDs { try DeviceRules.id(id) }
        return GetDeviceNamesResponse(
            displayNames: try await registry.displayNames(of: request.deviceIDs, for: try Caller(context)))
    }

    package func updateDevice(_ request: UpdateDeviceRequest, context: CallContext) async throws -> Device {
        let caller = try Caller(context)
        let id = try ResourceName.deviceID(request.name, field: "name")
        try DeviceRules.displayName(request.displayName ?? "")
        try DeviceRules.description(request.description ?? "")
        return try await registry.describe(
            id,
            DeviceEdit(
                displayName: request.displayName, description: request.description, tags: request.tags,
                replacesTags: request.replaceTags, silence: try request.silentAfterHours.map(SilenceLimit.init)),
            by: caller
        ).message
    }

    package func enableDevice(_ request: EnableDeviceRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        return try await registry.enable(id, by: try Caller(context)).message
    }

    package func disableDevice(_ request: DisableDeviceRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        return try await registry.disable(id, by: try Caller(context)).message
    }

    package func retireDevice(_ request: RetireDeviceRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        return try await registry.retire(id, by: try Caller(context)).message
    }

    package func unretireDevice(_ request: UnretireDeviceRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        return try await registry.unretire(id, by: try Caller(context)).message
    }

    package func allowReinit(_ request: AllowReinitRequest, context: CallContext) async throws -> Device {
        let id = try ResourceName.deviceID(request.name, field: "name")
        return try await registry.allowReinit(id, by: try Caller(context)).message
    }

    package func addDeviceToSuite(_ request: AddDeviceToSuiteRequest, context: CallContext) async throws -> Device {
        let suiteID = try ResourceName.suiteID(request.suite, field: "suite")
        let id = try ResourceName.deviceID(request.device, field: "device")
        return try await registry.bind(id, toSuite: suiteID, by: try Caller(context)).message
    }

    package func removeDeviceFromSuite(
        _ request: RemoveDeviceFromSuiteRequest, context: CallContext
    ) async throws -> Device {
        let suiteID = try ResourceName.suiteID(request.suite, field: "suite")
        let id = try ResourceName.deviceID(request.device, field: "device")
        return try await registry.unbind(id, fromSuite: suiteID, by: try Caller(context)).message
    }

    package func rotateDeviceKeys(
        _ request: RotateDeviceKeysRequest, context: CallContext
    ) async throws -> RotateDeviceKeysResponse {
        try await registry.rotateKeys(of: try KeyRotationTarget(request), by: try Caller(context)).message
    }

    package func announceAddresses(
        _ request: AnnounceAddressesRequest, context: CallContext
    ) async throws -> AnnouncedAddresses {
        let announcement = try AddressRules.announcement(request, at: registry.clock.now())
        return try await addresses.announce(announcement, by: try Caller(context)).message
    }

    package func getAnnouncedAddresses(
        _ request: GetAnnouncedAddressesRequest, context: CallContext
    ) async throws -> AnnouncedAddresses {
        try await addresses.state(for: try Caller(context)).message
    }

    package func withdrawAddresses(
        _ request: WithdrawAddressesRequest, context: CallContext
    ) async throws -> AnnouncedAddresses {
        try await addresses.withdraw(by: try Caller(context)).message
    }

    package func deleteDevice(_ request: DeleteDeviceRequest, context: CallContext) async throws -> Empty {
        try await registry.delete(
            try ResourceName.deviceID(request.name, field: "name"), by: try Caller(context))
        return Empty()
    }
}
