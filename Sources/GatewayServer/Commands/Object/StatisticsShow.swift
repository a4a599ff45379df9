import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway statistics`
struct StatisticsShow: ClientCommand {
    static let name = "statistics"
    static let summary = "Show what is stored, and what arrived and was deleted each day"

    static var parameters: [Parameter<Self>] {
        [.option("--days", "COUNT", \.days, "Number of days, 1 to 400; default: 7")] + connectionParameters
    }

    var days: Int64 = 7
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard let count = Int32(exactly: days), (1...400).contains(count) else {
            throw ClientFailure("--days must be 1 to 400, not \(days)", exitCode: .usage)
        }
        let reply = try await ObjectManagementServiceClient(gateway).getStatistics(GetStatisticsRequest(days: count))
        return Reply("days", reply.days).framed(
            json: .object([
                JSONValue.Member(name: "stored_objects", value: .number(reply.storedObjects)),
                JSONValue.Member(name: "stored_bytes", value: .number(reply.storedBytes)),
                JSONValue.Member(name: "days", value: .array(reply.days.map(\.json))),
            ]),
            before: "\(reply.storedObjects) objects, \(ByteCount.text(reply.storedBytes))\n\n")
    }
}

extension DailyStatistics: Resource {
    package static let columns = [
        "date", "arrived_objects", "arrived_bytes", "deleted_objects", "requested_objects", "stored_bytes",
    ]

    package var fields: [ResourceField] {
        [
            .text("date", date), .count("stored_objects", storedObjects), .size("stored_bytes", storedBytes),
            .count("arrived_objects", arrivedObjects), .size("arrived_bytes", arrivedBytes),
            .count("deleted_objects", deletedObjects), .size("deleted_bytes", deletedBytes),
            .count("requested_objects", requestedObjects), .size("requested_bytes", requestedBytes),
        ]
    }
}

extension ResourceField {
    /// A number of which 0 is shown, too.
    fileprivate static func count(_ name: String, _ value: Int64) -> ResourceField {
        .number(name, value, shownAs: "\(value)")
    }
}
