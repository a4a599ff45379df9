import Basics
import CommandLineInterface
import DeviceClient
import DeviceCommands
import DeviceInit
import GRPCWire
import GatewayAPI
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

/// The site and the suite of `data-gateway quickstart`, decided before anything is created.
struct QuickstartPlan: Sendable {
    /// A resource that exists, or the name with which it is created.
    enum Part<Resource: Sendable>: Sendable {
        case existing(Resource)
        case new(String)

        fileprivate var existing: Resource? {
            if case .existing(let resource) = self { resource } else { nil }
        }
    }

    private static let standardSite = "Site 1"
    /// The suites that the command names by itself are called like this, with a number.
    private static let standardSuite = "Suite "

    let site: Part<Site>
    let suite: Part<DeviceSuite>

    /// - Parameters:
    ///   - site: the site's number or name; `nil` = that of the suite, or the standard one.
    ///   - suite: the suite as in `SuiteArgument`; `nil` = the device's, or the one of the site.
    ///   - device: the device, if it is registered.
    /// - Throws: `ClientFailure` if a number does not exist, a name cannot be used, or the device is in another suite.
    init(
        site: String?, suite: String?, of device: Device?, sites: [Site], suites: [DeviceSuite]
    ) throws(ClientFailure) {
        let own = device?.suite ?? ""
        let wanted = suite ?? (site == nil && !own.isEmpty ? own : nil)
        let given = try site.map { text throws(ClientFailure) in try Self.site(text, sites) }
        let found = try wanted.flatMap { text throws(ClientFailure) in try Self.suite(text, at: given, suites) }
        let chosen: Part<Site>
        if let given {
            chosen = given
        } else if let home = sites.first(where: { $0.siteID == found?.siteID }) {
            chosen = .existing(home)
        } else {
            chosen = try Self.site(Self.standardSite, sites)
        }
        self.site = chosen
        if let found {
            self.suite = .existing(found)
        } else if let wanted {
            try Self.check(wanted, "--suite")
            self.suite = .new(wanted)
        } else {
            self.suite = try Self.standardSuite(at: chosen, suites)
        }
        guard let device, !own.isEmpty, own != self.suite.existing?.name else { return }
        throw ClientFailure(
            "\(device.deviceID) is in \(own): move it with 'device suite add', or give its --site and --suite")
    }

    var siteTitle: String {
        switch site {
        case .existing(let site): site.name
        case .new(let name): name
        }
    }

    var suiteTitle: String {
        switch suite {
        case .existing(let suite): suite.displayName
        case .new(let title): title
        }
    }

    private static func site(_ text: String, _ sites: [Site]) throws(ClientFailure) -> Part<Site> {
        if let number = Int64(text) {
            guard let site = sites.first(where: { $0.siteID == number }) else {
                throw ClientFailure("site \(number) does not exist")
            }
            return .existing(site)
        }
        if let site = try SiteArgument.site(named: text, of: sites) { return .existing(site) }
        try check(text, "--site")
        return .new(text)
    }

    /// - Parameter site: where the suite must be; `nil` = anywhere.
    /// - Returns: `nil` if no suite has that display name.
    private static func suite(
        _ text: String, at site: Part<Site>?, _ suites: [DeviceSuite]
    ) throws(ClientFailure) -> DeviceSuite? {
        let here = site.map { site in suites.filter { $0.siteID == site.existing?.siteID } } ?? suites
        guard DeviceNames.suite(number: text) != nil || here.contains(where: { $0.displayName == text }) else {
            return nil
        }
        let name = try SuiteNames(DeviceNames.suite(number: text) == nil ? here : suites).name(of: text)
        guard let suite = here.first(where: { $0.name == name }) else {
            throw ClientFailure("\(name) is at another site: give its --site, or none")
        }
        return suite
    }

    /// Returns the suite of a site if it has one, or the first that was named by itself if it has several; otherwise a new one, whose
    /// name no other suite has.
    private static func standardSuite(
        at site: Part<Site>, _ suites: [DeviceSuite]
    ) throws(ClientFailure) -> Part<DeviceSuite> {
        let here = suites.filter { $0.siteID == site.existing?.siteID }
        let isStandard = { (title: String) in
            title.hasPrefix(standardSuite) && Int64(title.dropFirst(standardSuite.count)) != nil
        }
        if let suite = here.count == 1 ? here.first : here.first(where: { isStandard($0.displayName) }) {
            return .existing(suite)
        }
        guard here.isEmpty else {
            let titles = here.map(\.displayName).joined(separator: ", ")
            throw ClientFailure("the site has several suites: choose one with --suite: \(titles)")
        }
        let taken = Set(suites.map(\.displayName))
        let numbers = (1...suites.count + 1).lazy.map { "\(standardSuite)\($0)" }
        return .new(numbers.first { !taken.contains($0) } ?? "\(standardSuite)\(suites.count + 1)")
    }

    private static func check(_ name: String, _ option: String) throws(ClientFailure) {
        do throws(RPCError) {
            try FieldRules.title(name, field: option)
        } catch {
            throw ClientFailure(error.message, exitCode: .usage)
        }
    }
}
