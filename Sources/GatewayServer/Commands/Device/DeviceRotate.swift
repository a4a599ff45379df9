import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway device rotate`
struct DeviceRotate: ClientCommand {
    static let name = "rotate"
    static let summary = "Let devices replace their keys by themselves, with their next token"
    static let discussion = [
        """
        A device fetches a new key with its next token, stores it, and uses it from then on; the old key and its tokens end \
        with its first use. A device that was sent an announcement of addresses takes these first. After a move to TLS, \
        wait until all devices have moved: on a network without TLS, the new key can be read like the old one.
        """,
        """
        'device show' prints since when a device is asked, until its key is replaced. Devices whose client does not rotate \
        keys need 'device allow-reinit' and 'init DEVICE_ID --reinit' on the device.
        """,
    ]
    static let examples = ["device rotate 260427-000001 260427-000002", "device rotate --suite Rovers --json"]

    static var parameters: [Parameter<Self>] {
        [
            .arguments(
                "DEVICE_ID", \.deviceIDs, "The devices' ids: YYMMDD-NNNNNN", isRequired: false),
            .option("--suite", "SUITE", \.suite, "Ask all devices of this suite, by its number or name"),
            .option("--site", "SITE", \.site, "Ask all devices of this site, by its number or name"),
            .flag("--all", \.isForAll, "Select all devices of the organization"),
        ] + connectionParameters
    }

    var deviceIDs: [String] = []
    var suite = ""
    var site: String?
    var isForAll = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let choices = [!deviceIDs.isEmpty, !suite.isEmpty, site != nil, isForAll]
        guard choices.filter({ $0 }).count == 1 else {
            throw ClientFailure(
                "device rotate requires exactly one of DEVICE_ID, --suite, --site and --all", exitCode: .usage)
        }
        let request = RotateDeviceKeysRequest(
            devices: deviceIDs.map(DeviceNames.device), suite: try await SuiteArgument.existing(suite, gateway),
            siteID: try await SiteArgument.existing(site, gateway), all: isForAll)
        let response = try await DeviceManagementServiceClient(gateway).rotateDeviceKeys(request)
        return Reply(
            json: .object([
                JSONValue.Member(name: "devices", value: .number(response.devices)),
                JSONValue.Member(name: "unaware", value: .number(response.unaware)),
            ]),
            text: response.summary)
    }
}

extension RotateDeviceKeysResponse {
    fileprivate var summary: String {
        let line = "asked \(TextLayout.count(Int(devices), "device")) to replace the key with the next token"
        guard unaware > 0 else { return line }
        return """
            \(line); \(unaware) of them have a client that does not, or have not fetched a token with one that does: \
            'device list --columns device_id,address_serial' shows them without a serial
            """
    }
}
