import Accounts
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
            .option(
                "--no-upload-for", "TIME", \.idleness,
                "List only devices that completed no upload for this long, such as 3d, since they got their key"),
            .flag("--silent", \.isSilent, "List only devices that are reported as silent"),
            .option(
                "--seen-within", "TIME", \.recency,
                "List only devices that were last seen within this time, such as 30m"),
            .option(
                "--sdk-version", "VERSION", \.sdkVersion,
                "List only devices whose program version begins with this text, such as data-gateway/0.3"),
            .option(
                "--order-by", "ORDER", \.order,
                "The order: device_id, display_name or last_seen_at, with ' desc' for the largest first"),
            .flag("--retired", \.isRetired, "List retired devices, which other lists do not contain"),
        ] + connectionParameters
    }

    var suite = ""
    var site: String?
    var status: Status?
    var silence: TimeSpan?
    var idleness: TimeSpan?
    var recency: TimeSpan?
    var isSilent = false
    var sdkVersion = ""
    var order = ""
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
                suite: suite, siteID: number, status: isRetired ? .retired : status?.device ?? .unspecified,
                silentForSeconds: silence?.seconds ?? 0,
                lastSeenSince: recency.map { Timestamp(gateway.now.adding(seconds: -$0.seconds)) },
                sdkVersion: sdkVersion, orderBy: order, reportedSilent: isSilent,
                noUploadForSeconds: idleness?.seconds ?? 0, withLastUpload: true))
        await report(service, gateway)
        return Reply("devices", devices)
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
