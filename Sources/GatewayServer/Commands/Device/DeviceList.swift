import Basics
import CommandLineInterface
import Proto

/// `data-gateway device list`
struct DeviceList: ClientCommand {
    /// The states by which devices can be filtered.
    enum Status: String, ArgumentChoice {
        case registered
        case initialized
        case disabled
        case retired

        var device: DeviceStatus {
            switch self {
            case .registered: .registered
            case .initialized: .initialized
            case .disabled: .disabled
            case .retired: .retired
            }
        }
    }

    static let name = "list"
    static let summary = "List devices"

    static var parameters: [Parameter<Self>] {
        [
            .option("--suite", "SUITE", \.suite, "List only devices of this suite, by its number or name"),
            .option("--site", "SITE", \.site, "List only devices of this site, by its number or name"),
            .option(
                "--status", "STATUS", \.status,
                "List only devices with this state: registered, initialized, disabled or retired"),
            .option(
                "--silent-for", "TIME", \.silence,
                "List only devices that were not heard of for this long, such as 12h or 2d, since they got their key"),
            .flag("--retired", \.isRetired, "List retired devices, which other lists do not contain"),
        ] + connectionParameters
    }

    var suite = ""
    var site: String?
    var status: Status?
    var silence: TimeSpan?
    var isRetired = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard !isRetired || status == nil || status == .retired else {
            throw ClientFailure("--retired and --status must not be given together", exitCode: .usage)
        }
        let number = try await SiteArgument.existing(site, gateway)
        let suite = try await SuiteArgument.existing(suite, gateway)
        let service = DeviceManagementServiceClient(gateway)
        let devices = try await service.allDevices(
            ListDevicesRequest(
                suite: suite, siteID: number, status: isRetired ? .retired : status?.device ?? .unspecified))
        await report(service, gateway)
        return Reply("devices", silence.map { Self.silent(devices, for: $0, at: gateway.now) } ?? devices)
    }

    /// Returns the devices that were last seen, or got their key, longer ago than a time.
    private static func silent(_ devices: [Device], for time: TimeSpan, at now: UnixTime) -> [Device] {
        devices.filter { device in
            guard let seen = device.lastSeenAt ?? device.initializedAt else { return false }
            return seen.seconds < now.seconds - time.seconds
        }
    }

    /// Writes how many devices took announced addresses. Earlier versions of the gateway have no announcements.
    private func report(
        _ service: DeviceManagementServiceClient<SignedInConnection>, _ gateway: SignedInConnection
    ) async {
        guard !connection.json, !isRetired,
            let announced = try? await service.getAnnouncedAddresses(GetAnnouncedAddressesRequest())
        else { return }
        if let summary = announced.summary { gateway.report(summary) }
    }
}
