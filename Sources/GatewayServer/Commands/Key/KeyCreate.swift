import Basics
import CommandLineInterface
import Proto

/// `data-gateway key create`
struct KeyCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create an API key for a site or a device, and show its credential once"
    static let discussion = ["A device has one key; if it has one already, 'key rotate' replaces its credential."]

    static var parameters: [Parameter<Self>] {
        [
            .option("--site", "SITE", \.site, "The site that the key is for, by its number or name"),
            .option("--device", "DEVICE_ID", \.deviceID, "The device that the key is for"),
            .option("--name", "TEXT", \.keyName, "The key's name; a device's key has its id by default"),
            .option("--expires", "TIME", \.expiry, "The time at which the key ends, such as 2027-01-31T08:00:00Z"),
        ] + connectionParameters
    }

    var site: String?
    var deviceID: String?
    var keyName = ""
    var expiry: TimeArgument?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let client = AdminAuthServiceClient(gateway)
        let end = expiry.map { Timestamp(seconds: $0.time.seconds) }
        switch (site, deviceID) {
        case (let site?, nil):
            guard !keyName.isEmpty else {
                throw ClientFailure("the key of a site requires --name", exitCode: .usage)
            }
            let number = try await SiteArgument.number(of: site, gateway)
            let reply = try await client.createSiteApiKey(
                CreateSiteApiKeyRequest(siteID: number, keyName: keyName, expiredAt: end))
            return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
        case (nil, let deviceID?):
            let reply = try await client.createOrRotateDeviceApiKey(
                CreateOrRotateDeviceApiKeyRequest(
                    deviceID: deviceID, keyName: keyName, expiredAt: end, mutationMode: .createOnly))
            return Reply(IssuedKey(key: try reply.apiKey.present("api_key"), credential: reply.credential))
        default: throw ClientFailure("key create needs either --site or --device", exitCode: .usage)
        }
    }
}

/// An argument with a date and time.
struct TimeArgument: ArgumentValue, Hashable, Sendable {
    let time: UnixTime

    init(argument: String) throws(ArgumentProblem) {
        guard let time = UnixTime(dateOrTime: argument) else {
            throw ArgumentProblem("must be a time like 2027-01-31T08:00:00Z or 2027-01-31, not '\(argument)'")
        }
        self.time = time
    }
}
