import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import DeviceInit
import GRPCWire
import JSON
import Proto
import RPC

/// `data-gateway quickstart`
struct Quickstart: ClientCommand {
    static let name = "quickstart"
    static let summary = "Create a site, a suite and a device, and print how the device connects"
    static let discussion = [
        """
        Uses the site, the suite and the device if they exist, so that further devices need the command only. Checks \
        everything before it creates anything. Prints the command for the device, and the configuration string as a QR code \
        for an app. The device fetches its key with its first call.
        """
    ]
    static let examples = ["quickstart", "quickstart 260427-000001 --site Depot --host gateway.test"]

    static var parameters: [Parameter<Self>] {
        [
            .argument(
                "DEVICE_ID", \.deviceID,
                "YYMMDD-NNNNNN (default: the gateway assigns today's date and six random digits)", isRequired: false),
            .option(
                "--site", "SITE", \.site,
                "The site's number, or its name, with which it is created if it does not exist (default: Site 1)"),
            .option(
                "--suite", "SUITE", \.suite,
                """
                The suite's number, or its display name, with which it is created if it does not exist (default: the suite of \
                the site, or a new one)
                """),
        ] + EndpointOptions.parameters(standard: "the addresses of the last login").map { $0.at(\.place) }
            + connectionParameters
    }

    var deviceID = ""
    var site: String?
    var suite: String?
    var place = EndpointOptions()
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let devices = DeviceManagementServiceClient(gateway)
        let found = try await existing(devices)
        let sites = try await AdminAuthServiceClient(gateway).allSites()
        let plan = try QuickstartPlan(
            site: site, suite: suite, of: found, sites: sites, suites: try await devices.allSuites())
        let siteID = try await siteNumber(plan.site, gateway)
        let suiteName = try await suiteName(plan.suite, at: siteID, devices)
        let device = try await device(found, in: suiteName, devices)
        let connection = try DeviceConnection(of: device, place, gateway)
        let places: [JSONValue.Member] = [
            .init(name: "site_id", value: .number(siteID)), .init(name: "suite", value: .string(device.suite)),
            .init(name: "init", value: .string(connection.initialization)),
        ]
        let text = [
            "device \(device.deviceID) at site \(plan.siteTitle), in suite \(plan.suiteTitle)", "", "on the device:",
            "  \(connection.initialization)", "", "in an app:", try connection.drawing(),
        ]
        return Reply(
            json: .object(connection.members + places), text: (text + connection.notes).joined(separator: "\n"))
    }

    /// Returns the device of the command line; `nil` = it is not registered, or the gateway assigns an id.
    ///
    /// - Throws: `ClientFailure` if its id is malformed, or it is retired.
    private func existing(_ devices: DeviceManagementServiceClient<SignedInConnection>) async throws -> Device? {
        guard !deviceID.isEmpty else { return nil }
        do throws(RPCError) {
            try DeviceRules.id(deviceID)
        } catch {
            throw ClientFailure("DEVICE_ID must be YYMMDD-NNNNNN, not '\(deviceID)'", exitCode: .usage)
        }
        do {
            let device = try await devices.getDevice(GetDeviceRequest(name: DeviceNames.device(deviceID)))
            guard device.status != .retired else { throw ClientFailure(DeviceRules.retired(deviceID)) }
            return device
        } catch let failure as ClientFailure where failure.status == .notFound {
            return nil
        }
    }

    private func siteNumber(
        _ site: QuickstartPlan.Part<Site>, _ gateway: SignedInConnection
    ) async throws -> Int64 {
        switch site {
        case .existing(let site): site.siteID
        case .new(let name):
            try await AdminAuthServiceClient(gateway).createSite(CreateSiteRequest(name: name)).site.present("site")
                .siteID
        }
    }

    private func suiteName(
        _ suite: QuickstartPlan.Part<DeviceSuite>, at siteID: Int64,
        _ devices: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> String {
        switch suite {
        case .existing(let suite): suite.name
        case .new(let title):
            try await devices.createDeviceSuite(CreateDeviceSuiteRequest(siteID: siteID, displayName: title)).name
        }
    }

    /// Returns the device, which is registered if it is new.
    private func device(
        _ found: Device?, in suiteName: String, _ devices: DeviceManagementServiceClient<SignedInConnection>
    ) async throws -> Device {
        guard let found else {
            return try await devices.registerDevice(RegisterDeviceRequest(deviceID: deviceID, suite: suiteName))
        }
        guard found.suite.isEmpty else { return found }
        return try await devices.addDeviceToSuite(AddDeviceToSuiteRequest(suite: suiteName, device: found.name))
    }
}
