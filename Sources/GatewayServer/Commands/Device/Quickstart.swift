import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import Proto

/// `data-gateway quickstart`
struct Quickstart: ClientCommand {
    static let name = "quickstart"
    static let summary = "Create a site, a suite and a device, and print how the device connects"
    static let discussion = [
        """
        Uses the site, the suite and the device if they exist, so that further devices need the command only. Prints the \
        command for the device, and the configuration string as a QR code for an app. The device fetches its key with its \
        first call.
        """
    ]
    static let examples = ["quickstart", "quickstart 260427-000001 --site Depot --host gateway.test"]

    static var parameters: [Parameter<Self>] {
        [
            .argument(
                "DEVICE_ID", \.deviceID,
                "YYMMDD-NNNNNN (default: the gateway assigns today's date and six random digits)", isRequired: false),
            .option("--site", "NAME", \.site, "The site's name (default: Site 1)"),
            .option("--suite", "NAME", \.suite, "The suite's display name (default: Suite 1)"),
        ] + EndpointOptions.parameters(standard: "the host of the last login").map { $0.at(\.place) }
            + connectionParameters
    }

    var deviceID = ""
    var site = "Site 1"
    var suite = "Suite 1"
    var place = EndpointOptions()
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let siteID = try await siteNumber(gateway)
        let devices = DeviceManagementServiceClient(gateway)
        let suiteName = try await suiteName(at: siteID, devices)
        let device = try await device(in: suiteName, devices)
        let connection = try DeviceConnection(of: device, place, gateway)
        let places: [JSONValue.Member] = [
            .init(name: "site_id", value: .number(siteID)), .init(name: "suite", value: .string(device.suite)),
            .init(name: "init", value: .string(connection.initialization)),
        ]
        let text = [
            "device \(device.deviceID) at site \(site), in suite \(suite)", "", "on the device:",
            "  \(connection.initialization)", "", "in an app:", try connection.drawing(),
        ]
        return Reply(
            json: .object(connection.members + places), text: (text + connection.notes).joined(separator: "\n"))
    }

    private func siteNumber(_ gateway: SignedInConnection) async throws -> Int64 {
        let service = AdminAuthServiceClient(gateway)
        guard try await service.allSites().contains(where: { $0.name == site }) else {
            return try await service.createSite(CreateSiteRequest(name: site)).site.present("site").siteID
        }
        return try await SiteArgument.number(of: site, gateway)
    }

    private func suiteName(
        at siteID: Int64, _ devices: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> String {
        if let found = try await devices.allSuites(siteID: siteID).first(where: { $0.displayName == suite }) {
            return found.name
        }
        return try await devices.createDeviceSuite(CreateDeviceSuiteRequest(siteID: siteID, displayName: suite)).name
    }

    /// Returns the device, which is registered if it is new.
    ///
    /// - Throws: `ClientFailure` if it is in another suite.
    private func device(
        in suiteName: String, _ devices: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> Device {
        guard !deviceID.isEmpty, let found = try await existing(devices) else {
            return try await devices.registerDevice(RegisterDeviceRequest(deviceID: deviceID, suite: suiteName))
        }
        guard !found.suite.isEmpty else {
            return try await devices.addDeviceToSuite(AddDeviceToSuiteRequest(suite: suiteName, device: found.name))
        }
        guard found.suite == suiteName else {
            throw ClientFailure(
                "\(deviceID) is in \(found.suite): move it with 'device suite add', or give its --site and --suite")
        }
        return found
    }

    private func existing(_ devices: DeviceManagementServiceClient<SignedInConnection>) async throws -> Device? {
        do {
            return try await devices.getDevice(GetDeviceRequest(name: DeviceNames.device(deviceID)))
        } catch let failure as ClientFailure where failure.status == .notFound {
            return nil
        }
    }
}
