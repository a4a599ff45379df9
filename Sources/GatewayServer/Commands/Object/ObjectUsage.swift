import Basics
import CommandLineInterface
import JSON
import Proto
import TimeZones

/// `data-gateway object du`
struct ObjectUsage: ClientCommand {
    static let name = "du"
    static let summary = "Show the number and size of objects by device, site, day or type"
    static let examples = ["object du 'age<7d' --by day"]
    static let listener = CommandListener.gateway

    enum Grouping: String, ArgumentChoice {
        case device, site, day, type
    }

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILTER", \.filter, "Count only objects that match the filter of ls", isRequired: false)
                .allowingEmpty(),
            .option(
                "--by", "WORD", \.grouping, "The groups: device, site, day of the recording or type (default: device)"),
            TimeZoneOption.parameter(\.timeZone),
        ] + connectionParameters
    }

    var filter = ""
    var grouping = Grouping.device
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = DataGatewayObjectServiceClient(gateway)
        let zone = try zone()
        var groups: [String: (count: Int64, bytes: Int64)] = [:]
        var names: [String: String] = [:]
        var token = ""
        repeat {
            let page = try await service.listObjects(
                ListObjectsRequest(
                    pageSize: Pages.size, pageToken: token, filter: filter, timeZone: timeZone,
                    withDeviceNames: grouping == .device))
            for object in page.objects {
                let key = key(of: object, in: zone)
                if !object.deviceName.isEmpty { names[key] = object.deviceName }
                let sum = groups[key, default: (0, 0)]
                groups[key] = (sum.count + 1, sum.bytes + object.sizeBytes)
            }
            guard page.nextPageToken.isEmpty || page.nextPageToken != token else {
                throw ClientFailure("the gateway's list does not end")
            }
            token = page.nextPageToken
        } while !token.isEmpty
        let rows = groups.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
            .map {
                UsageRow(
                    grouping: grouping, key: $0.key, name: names[$0.key], count: $0.value.count, bytes: $0.value.bytes)
            }
        let total = rows.reduce((count: Int64(0), bytes: Int64(0))) { ($0.count + $1.count, $0.bytes + $1.bytes) }
        return Reply("groups", rows, things: "objects\(NameSearch.advice(for: filter))").framed(
            json: .object([
                JSONValue.Member(name: "groups", value: .array(rows.map(\.json))),
                JSONValue.Member(name: "objects", value: .number(total.count)),
                JSONValue.Member(name: "size_bytes", value: .number(total.bytes)),
                // Stays for one release.
                JSONValue.Member(name: "bytes", value: .number(total.bytes)),
            ]),
            after: rows.isEmpty ? "" : "\n\(TextLayout.count(total.count, "object")), \(ByteCount.text(total.bytes))")
    }

    /// Returns the zone of the days, which are counted here.
    private func zone() throws(ClientFailure) -> TimeZoneRules {
        guard grouping == .day, !timeZone.isEmpty else { return .utc }
        do {
            return try TimeZoneFolder.system.zone(timeZone)
        } catch {
            throw ClientFailure(
                "\(TimeZoneOption.name): this machine has no time zone \(timeZone) (package tzdata)", exitCode: .usage)
        }
    }

    private func key(of object: DataObject, in zone: TimeZoneRules) -> String {
        switch grouping {
        case .device: object.deviceID
        case .site: "\(object.siteID)"
        case .day:
            CivilTime(
                UnixTime(
                    seconds: zone.day(of: UnixTime(seconds: object.recordedFrom?.seconds ?? object.createdAtUnix))
                        * TimeZoneRules.day)
            ).date()
        case .type: object.contentType
        }
    }
}

/// The objects of one group.
private struct UsageRow: Resource {
    static let columns = ["group", "objects", "size_bytes"]

    let grouping: ObjectUsage.Grouping
    let key: String
    /// The display name of a device; `nil` = none.
    let name: String?
    let count: Int64
    let bytes: Int64

    var fields: [ResourceField] {
        [
            ResourceField(
                name: "group", json: .string(key), text: name.map { "\($0) (\(key))" } ?? key,
                heading: grouping.rawValue),
            .number("objects", count, shownAs: "\(count)"), .size("size_bytes", bytes),
        ]
    }
}
