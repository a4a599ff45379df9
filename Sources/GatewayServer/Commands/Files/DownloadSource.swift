import Basics
import CommandLineInterface
import HTTPTypes
import Proto
import StoreClient
import Wire

/// Requests objects and their URLs from the gateway, over a connection that is reopened after a failure.
actor DownloadSource {
    private let options: ConnectionOptions
    private let environment: CommandEnvironment
    /// The zone of the days in filters; empty = UTC.
    private let timeZone: String
    private var connection: SignedInConnection?

    init(_ options: ConnectionOptions, _ environment: CommandEnvironment, timeZone: String = "") {
        self.timeZone = timeZone
        self.options = options
        self.environment = environment
    }

    /// An object's id, with its details from a list.
    struct Wanted: Sendable {
        let id: String
        var details: DataObject?
        /// Whether a filter found it, which may be for a folder: its path is kept. One that was given by its name or id is a file.
        var isOfFilter = false

        /// Whether it is a file of a folder, whose path is kept.
        var hasPath: Bool { isOfFilter && details?.relativePath.isEmpty == false }
    }

    /// Returns the objects of an argument, which is an id, the name of objects, or a filter, tried in this order.
    ///
    /// - Parameter needsDetails: whether the details of objects given by id are fetched, too.
    func find(_ argument: String, needsDetails: Bool) async throws -> [Wanted] {
        try await calling { try await Self.find(argument, in: timeZone, over: $0, needsDetails: needsDetails) }
    }

    /// Returns the objects of an argument that is an id or the name of objects.
    ///
    /// - Parameter inTrash: whether only objects in the trash are meant; otherwise none of these.
    func findNamed(_ argument: String, inTrash: Bool) async throws -> [Wanted] {
        if Self.isID(argument) { return [Wanted(id: argument)] }
        return try await calling { gateway in
            let filter = "name=\(Self.quoted(argument))"
            return try await Self.list(inTrash ? "trashed=true \(filter)" : filter, gateway)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing(bytes: ["\\": "\\\\", "\"": "\\\""]))\""
    }

    static func find(
        _ argument: String, in timeZone: String, over gateway: SignedInConnection, needsDetails: Bool = false
    ) async throws -> [Wanted] {
        if isID(argument) {
            guard needsDetails else { return [Wanted(id: argument)] }
            let found = try await list("object_id=\(argument)", gateway)
            return found.isEmpty ? [Wanted(id: argument)] : found
        }
        let named = try? await list("name=\(quoted(argument))", gateway)
        if let named, !named.isEmpty { return named }
        let found = try await list(argument, gateway, in: timeZone)
        guard !found.isEmpty else {
            throw ClientFailure(NameSearch.nothing(matches: argument), status: .notFound)
        }
        return found.map { Wanted(id: $0.id, details: $0.details, isOfFilter: true) }
    }

    /// Whether the text is an id: file ids have 32 hexadecimal digits, ids of uploads are UUIDs.
    private static func isID(_ text: String) -> Bool {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        return digits.count == 32 && [32, 36].contains(text.utf8.count)
            && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private static func list(
        _ filter: String, _ gateway: SignedInConnection, in timeZone: String = ""
    ) async throws -> [Wanted] {
        let service = DataGatewayObjectServiceClient(gateway)
        return try await Pages.all { token in
            let page = try await service.listObjects(
                ListObjectsRequest(pageSize: Pages.size, pageToken: token, filter: filter, timeZone: timeZone))
            return (page.objects.map { Wanted(id: $0.fileID, details: $0) }, page.nextPageToken)
        }
    }

    /// Returns the object by its details from the list. Only an object without them costs a call, which counts as a download.
    func file(_ wanted: Wanted) async throws -> RemoteFile {
        guard let details = wanted.details, let name = FileName(details.name) else { return try await request(wanted) }
        return RemoteFile(
            id: wanted.id, name: name, relativePath: wanted.isOfFilter ? RelativePath(details.relativePath) : nil,
            size: details.sizeBytes, crc64: UInt64(details.crc64Ecma), details: details)
    }

    func location(of wanted: Wanted) async throws -> FileDownload.Location {
        try await request(wanted).location.present("read")
    }

    private func request(_ wanted: Wanted) async throws -> RemoteFile {
        try await calling { open in
            let reply = try await DataGatewayObjectServiceClient(open).requestDownload(
                RequestDownloadRequest(fileIDs: [wanted.id]))
            let file = try reply.files.first.present("files")
            let read = try file.read.present("read")
            return RemoteFile(
                id: file.fileID, name: FileName(file.name),
                relativePath: wanted.isOfFilter ? RelativePath(file.relativePath) : nil,
                size: file.sizeBytes, crc64: UInt64(file.crc64Ecma),
                location: FileDownload.Location(url: read.uri, fields: HTTPFields(read.headers)),
                details: wanted.details)
        }
    }

    private func calling<Result: Sendable>(
        _ call: (SignedInConnection) async throws -> Result
    ) async throws -> Result {
        do {
            let open: SignedInConnection
            if let connection {
                open = connection
            } else {
                open = try await SignedInConnection(options, listener: .gateway, in: environment)
            }
            connection = open
            return try await call(open)
        } catch let failure as ClientFailure where failure.exitCode == .unreachable {
            connection = nil
            throw failure
        }
    }
}

extension HTTPFields {
    fileprivate init(_ headers: [String: String]) {
        self.init()
        for (name, value) in headers { append(name, value) }
    }
}
