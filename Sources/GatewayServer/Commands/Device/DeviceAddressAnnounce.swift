import Accounts
import Basics
package import CommandLineInterface
import DeviceClient
import DeviceCommands
import GatewayFormats
package import Proto
import Wire

/// `data-gateway device address announce`
struct DeviceAddressAnnounce: ClientCommand {
    static let name = "announce"
    static let summary = "Announce new addresses of the gateway to all devices of the organization"
    static let discussion = [
        """
        A device gets the announcement with its next token, and takes the addresses after a call with that token succeeded \
        there. A device that used TLS takes only addresses with TLS. It keeps its earlier address for 30 days, and returns to \
        it if the new one fails for an hour, but never from TLS to cleartext.
        """,
        """
        Run the gateway at the old and at the new addresses until all devices moved: 'device address show' counts them. \
        Devices whose client does not read announcements need 'init --host' on the device.
        """,
    ]
    static let examples = [
        "device address announce --host https://new.example.com",
        "device address announce --host https://new.example.com --days 30",
    ]

    static var parameters: [Parameter<Self>] {
        EndpointOptions.parameters(standard: "required, or all of the three URLs").map { $0.at(\.place) } + [
            .option(
                "--authority", "FILE", \.authorityPath,
                "The PEM file of the authority that signed the certificate, unless the devices trust it"),
            .option("--days", "DAYS", \.days, "The time for which devices take the addresses: 1 to 400 (default: 90)"),
        ] + connectionParameters
    }

    var place = EndpointOptions()
    var authorityPath: String?
    var days: Int64 = 90
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard place.isComplete else {
            throw ClientFailure("device address announce requires --host or all of the three URLs", exitCode: .usage)
        }
        guard (1...400).contains(days) else { throw ClientFailure("--days must be 1 to 400", exitCode: .usage) }
        let endpoints = place.endpoints(over: Endpoints())
        let end = gateway.now.adding(seconds: days * 86_400)
        return Reply(
            try await DeviceManagementServiceClient(gateway).announceAddresses(
                AnnounceAddressesRequest(
                    auth: DeviceEndpoint(endpoints.auth), gateway: DeviceEndpoint(endpoints.gateway),
                    deviceInit: DeviceEndpoint(endpoints.deviceInit), authority: try authority(),
                    endsAt: Timestamp(end))))
    }

    private func authority() throws(ClientFailure) -> String {
        guard let authorityPath else { return "" }
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: authorityPath)
        } catch {
            throw ClientFailure("cannot read \(error.reason)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ClientFailure("cannot read \(authorityPath): it is not a text in UTF-8")
        }
        return text
    }
}

/// `data-gateway device address show`
struct DeviceAddressShow: ClientCommand {
    static let name = "show"
    static let summary = "Show the announced addresses, and how many devices took them"
    static let examples = ["device address show"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(
            try await DeviceManagementServiceClient(gateway).getAnnouncedAddresses(GetAnnouncedAddressesRequest()))
    }
}

/// `data-gateway device address withdraw`
struct DeviceAddressWithdraw: ClientCommand {
    static let name = "withdraw"
    static let summary = "Withdraw the announced addresses (devices that took them keep them)"
    static let examples = ["device address withdraw"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply(try await DeviceManagementServiceClient(gateway).withdrawAddresses(WithdrawAddressesRequest()))
    }
}

extension DeviceEndpoint {
    fileprivate init(_ endpoint: Endpoints.Endpoint) {
        self.init(host: endpoint.host, port: Int32(endpoint.port), tls: endpoint.scheme == .https)
    }

    fileprivate var url: String {
        "\(Endpoints.Endpoint(scheme: tls ? .https : .http, host: host, port: Int(port)))"
    }
}

extension AnnouncedAddresses: Resource {
    package static let columns = ["serial", "gateway", "devices", "taken", "unaware"]

    package var fields: [ResourceField] {
        [
            .number("serial", announcement?.serial ?? 0),
            .text("auth", announcement?.auth?.url ?? ""), .text("gateway", announcement?.gateway?.url ?? ""),
            .text("device_init", announcement?.deviceInit?.url ?? ""),
            .text("authority", authority, shownAs: authority.isEmpty ? "" : "a certificate, which --json prints"),
            .time("ends_at", (announcement?.endsAtUnix).map { Timestamp(UnixTime(seconds: $0)) }),
            .time("announced_at", announcedAt),
            .number("devices", devices, shownAs: "\(devices)"), .number("taken", taken, shownAs: "\(taken)"),
            .number("unaware", unaware, shownAs: "\(unaware)"),
        ]
    }

    private var authority: String { announcement?.authority ?? "" }

    /// The line about an announcement for a list of devices; `nil` without one.
    var summary: String? {
        guard let announcement else { return nil }
        let waiting = devices - taken - unaware
        return """
            \(taken) of \(TextLayout.count(Int(devices), "device")) with a key took the addresses announced as number \
            \(announcement.serial), \(waiting) will with their next token, and \(unaware) have a client that does not read \
            announcements
            """
    }
}
