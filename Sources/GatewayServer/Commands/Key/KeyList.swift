import CommandLineInterface
import Proto

/// `data-gateway key list`
struct KeyList: ClientCommand {
    static let name = "list"
    static let summary = "List the API keys of sites and devices"

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "List only keys of this site and its devices, by its number or name"),
            .option("--device", "DEVICE_ID", \.deviceID, "List only the key of this device"),
        ] + connectionParameters
    }

    var site: String?
    var deviceID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let number = try await SiteArgument.existing(site, gateway)
        let keys = try await AdminAuthServiceClient(gateway).allAPIKeys(
            ListApiKeysRequest(siteID: number, deviceID: deviceID))
        return Reply("api_keys", keys)
    }
}
