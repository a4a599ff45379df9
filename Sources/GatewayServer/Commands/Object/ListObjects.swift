import CommandLineInterface
import JSON
import Proto

/// `data-gateway ls`
struct ListObjects: ClientCommand {
    static let name = "ls"
    static let summary = "List objects, newest first"
    static let discussion = [
        """
        FILTER has terms such as weather=rain, *.mcap, name:*camera*, size>1MiB, recorded=yesterday or device=261121-000001. A plain \
        word is a part of the name of an object, a device or a site, or the beginning of a device's id or of a tag's value; \
        begins:WORD finds only beginnings. Terms are combined with AND; OR, NOT and parentheses are available.
        """
    ]
    static let listener = CommandListener.gateway

    static var parameters: [Parameter<Self>] { ownParameters + connectionParameters }

    /// The parameters except those of the connection.
    static var ownParameters: [Parameter<Self>] {
        [
            .argument("FILTER", \.filter, "List only objects that match the filter (default: all)", isRequired: false)
                .allowingEmpty(),
            .option("--limit", "N", \.limit, "List at most this number of objects (default: all)"),
            .option(
                "--order-by", "ORDER", \.order,
                "The order: created, recorded, size or name, with ' desc' for the largest first (default: newest first)"
            )
            .offering(["created", "recorded", "size", "name"]),
            .flag(
                "--folders", \.groupsFolders,
                "List each folder as one entry, those directly below the folder of FILTER (folder:PATH)"),
            TimeZoneOption.parameter(\.timeZone),
        ]
    }

    var filter = ""
    var limit: Int64?
    var order = ""
    var groupsFolders = false
    var timeZone = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard limit ?? 1 > 0 else { throw ClientFailure("--limit must be at least 1", exitCode: .usage) }
        let limit = limit.map { Int(clamping: $0) } ?? .max
        let service = DataGatewayObjectServiceClient(gateway)
        var count = 0
        let objects = try await Pages.all { token in
            let size = min(Int(Pages.size), limit - count)
            let page = try await service.listObjects(
                ListObjectsRequest(
                    pageSize: Int32(clamping: size), pageToken: token, filter: filter, orderBy: order,
                    timeZone: timeZone, groupFolders: groupsFolders, withTopics: true, withDeviceNames: true))
            count += page.objects.count
            return (page.objects, count < limit ? page.nextPageToken : "")
        }.prefix(limit)
        let things = "objects\(NameSearch.advice(for: filter))"
        guard groupsFolders else { return Reply("objects", Array(objects), things: things) }
        return Reply("objects", objects.map(ListedEntry.init), things: things)
    }
}

/// An object or a folder, for `ls --folders`.
private struct ListedEntry: Resource {
    static let columns = ["name", "objects", "size_bytes", "device_name", "created_at", "file_id"]
    static let expendableColumns = ["file_id", "device_name", "created_at"]

    private let object: DataObject

    /// The name, the size and the time range of a folder replace those of its first object.
    init(_ object: DataObject) {
        var entry = object
        if let folder = object.folder {
            entry.name = "\(folder.path)/"
            entry.fileID = ""
            entry.sizeBytes = folder.sizeBytes
            entry.recordedFrom = folder.recordedFrom
            entry.recordedTo = folder.recordedTo
        }
        self.object = entry
    }

    var fields: [ResourceField] {
        let folder = object.folder
        let count = folder.map { "\($0.objects)\($0.isLowerBound ? " or more" : "")" }
        return object.fields + [
            ResourceField(
                name: "objects", json: folder.map { JSONValue.number($0.objects) } ?? .null, text: count ?? ""),
            ResourceField(
                name: "folder",
                json: folder.map { folder in
                    JSONValue.object([
                        JSONValue.Member(name: "path", value: .string(folder.path)),
                        JSONValue.Member(name: "filter", value: .string(folder.filter)),
                        JSONValue.Member(name: "objects", value: .number(folder.objects)),
                        JSONValue.Member(name: "size_bytes", value: .number(folder.sizeBytes)),
                        JSONValue.Member(name: "is_lower_bound", value: .bool(folder.isLowerBound)),
                    ])
                } ?? .null, text: folder?.filter ?? ""),
        ]
    }
}

/// `data-gateway object find`
struct ObjectFind: ClientCommand {
    static let name = "find"
    static let summary = "List objects by a part of their name, by tags, size or age, as ls does"
    static let discussion = ListObjects.discussion
    static let examples = ["object find camera", "object find 'name:run07* size>1MiB'"]
    static let listener = ListObjects.listener

    static var parameters: [Parameter<Self>] {
        ListObjects.ownParameters.map { $0.at(\.list) } + connectionParameters
    }

    var list = ListObjects()
    var connection: ConnectionOptions {
        get { list.connection }
        set { list.connection = newValue }
    }

    func call(_ gateway: SignedInConnection) async throws -> Reply { try await list.call(gateway) }
}

/// `data-gateway object list-corrupted`
struct ObjectListCorrupted: ClientCommand {
    static let name = "list-corrupted"
    static let formerName: String? = "list-bad"
    static let summary = "List corrupted objects, whose bytes no longer match their checksum"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = ObjectManagementServiceClient(gateway)
        var objects = try await Pages.all { token in
            let page = try await service.listBadObjects(
                ListBadObjectsRequest(pageSize: Pages.size, pageToken: token))
            return (page.objects, page.nextPageToken)
        }
        let names = try await DeviceDisplayNames(of: objects.map(\.deviceID), gateway)
        for index in objects.indices { objects[index].deviceName = names[objects[index].deviceID] }
        return Reply("objects", objects, things: "corrupted objects")
    }
}
