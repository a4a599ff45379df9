import CommandLineInterface
import Proto

/// `data-gateway ls`
struct ListObjects: ClientCommand {
    static let name = "ls"
    static let summary = "List the objects that arrived, newest first"
    static let discussion = [
        """
        FILTER is terms that must all hold, e.g. 'raw_tags.weather=rain device=261121-000001 size>1000000 \
        created>=2026-11-21T00:00:00Z'.
        """
    ]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] {
        [
            .argument("FILTER", \.filter, "Which objects; without one, all", isRequired: false),
            .option("--limit", "N", \.limit, "At most so many (default: all)"),
        ] + connectionParameters
    }

    var filter = ""
    var limit: Int64?
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard limit ?? 1 > 0 else { throw ClientFailure("--limit takes a number above 0", exitCode: .usage) }
        let limit = limit.map { Int(clamping: $0) } ?? .max
        let service = DataGatewayObjectServiceClient(gateway)
        var count = 0
        let objects = try await Pages.all { token in
            let size = min(Int(Pages.size), limit - count)
            let page = try await service.listObjects(
                ListObjectsRequest(pageSize: Int32(clamping: size), pageToken: token, filter: filter))
            count += page.objects.count
            return (page.objects, count < limit ? page.nextPageToken : "")
        }
        return Reply("objects", Array(objects.prefix(limit)))
    }
}
