import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway device suite create`
struct DeviceSuiteCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create a suite, a group of devices at one site"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "The suite's site, by its number or name", isRequired: true),
            .option("--display-name", "TEXT", \.displayName, "The suite's display name", isRequired: true),
            .option("--description", "TEXT", \.description, "The suite's description").allowingEmpty(),
        ] + connectionParameters
    }

    var site = ""
    var displayName = ""
    var description = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.number(of: site, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).createDeviceSuite(
                CreateDeviceSuiteRequest(siteID: number, displayName: displayName, description: description)))
    }
}

/// `data-gateway device suite list`
struct DeviceSuiteList: ClientCommand {
    static let name = "list"
    static let summary = "List the suites of all sites or of one"

    static var parameters: [Parameter<Self>] {
        [.option("--site", "SITE", \.site, "List only suites of this site, by its number or name")]
            + connectionParameters
    }

    var site: String?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.existing(site, gateway)
        return Reply("device_suites", try await DeviceManagementServiceClient(gateway).allSuites(siteID: number))
    }
}

/// `data-gateway device suite show`
struct DeviceSuiteShow: ClientCommand {
    static let name = "show"
    static let summary = "Show a suite"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help)] + connectionParameters
    }

    var suite = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).getDeviceSuite(GetDeviceSuiteRequest(name: suite)))
    }
}

/// A command that changes which suite has a device.
protocol DeviceSuiteMembership: ClientCommand {
    var suite: String { get set }
    var deviceID: String { get set }

    /// - Parameters:
    ///   - suite: the suite's resource name.
    ///   - device: the device's resource name.
    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
}

extension DeviceSuiteMembership {
    static var parameters: [Parameter<Self>] {
        [
            .argument("SUITE", \.suite, SuiteArgument.help),
            .argument("DEVICE_ID", \.deviceID, "The device's id: YYMMDD-NNNNNN"),
        ] + connectionParameters
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return try await call(
            DeviceManagementServiceClient(gateway), suite: suite, device: DeviceNames.device(deviceID))
    }
}

/// `data-gateway device suite add`
struct DeviceSuiteAdd: DeviceSuiteMembership {
    static let name = "add"
    static let summary = "Add a device to a suite and to the suite's site"

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
    {
        Reply(try await devices.addDeviceToSuite(AddDeviceToSuiteRequest(suite: suite, device: device)))
    }
}

/// `data-gateway device suite remove`
struct DeviceSuiteRemove: DeviceSuiteMembership {
    static let name = "remove"
    static let summary = "Remove a device from its suite (its key stops working with the next call)"

    var suite = ""
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ devices: DeviceManagementServiceClient<SignedInConnection>, suite: String, device: String) async throws
        -> Reply
    {
        Reply(try await devices.removeDeviceFromSuite(RemoveDeviceFromSuiteRequest(suite: suite, device: device)))
    }
}

/// `data-gateway device suite rename`
struct DeviceSuiteRename: ClientCommand {
    static let name = "rename"
    static let summary = "Change the name of a suite"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help), .argument("NAME", \.newName, "The new name")]
            + connectionParameters
    }

    var suite = ""
    var newName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).updateDeviceSuite(
                UpdateDeviceSuiteRequest(name: suite, displayName: newName)))
    }
}

/// `data-gateway device suite set-silent-after`
struct DeviceSuiteSetSilentAfter: ClientCommand {
    static let name = "set-silent-after"
    static let summary = "Set the time after which devices of a suite are silent"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help), .argument("TIME", \.limit, SilenceArgument.help)]
            + connectionParameters
    }

    var suite = ""
    var limit = SilenceArgument.inherited
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        return Reply(
            try await DeviceManagementServiceClient(gateway).updateDeviceSuite(
                UpdateDeviceSuiteRequest(name: suite, silentAfterHours: limit.hours)))
    }
}

/// `data-gateway device suite delete`
struct DeviceSuiteDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete a suite that has no devices"

    static var parameters: [Parameter<Self>] {
        [.argument("SUITE", \.suite, SuiteArgument.help)] + connectionParameters
    }

    var suite = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let suite = try await SuiteArgument.name(of: suite, gateway)
        _ = try await DeviceManagementServiceClient(gateway).deleteDeviceSuite(DeleteDeviceSuiteRequest(name: suite))
        return .deleted("name", .string(suite), suite)
    }
}
