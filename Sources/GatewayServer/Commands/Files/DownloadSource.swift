import Basics
import CommandLineInterface
import HTTPTypes
import Proto
import StoreClient
import Wire

/// Asks the gateway for objects and their URLs, over a connection that is opened anew when it broke.
actor DownloadSource {
    private let options: ConnectionOptions
    private let environment: CommandEnvironment
    private var connection: SignedInConnection?

    init(_ options: ConnectionOptions, _ environment: CommandEnvironment) {
        self.options = options
        self.environment = environment
    }

    /// An object by its id, with what a list said of it.
    struct Wanted: Sendable {
        let id: String
        var details: DataObject?
    }

    /// What an argument means: an id, the name of objects, or a filter, in this order.
    ///
    /// - Parameter needsDetails: objects that are named by their id are looked up, too.
    func find(_ argument: String, needsDetails: Bool) async throws -> [Wanted] {
        try await calling { try await Self.find(argument, over: $0, needsDetails: needsDetails) }
    }

    static func find(
        _ argument: String, over gateway: SignedInConnection, needsDetails: Bool = false
    ) async throws -> [Wanted] {
        if isID(argument) {
            guard needsDetails else { return [Wanted(id: argument)] }
            let found = try await list("object_id=\(argument)", gateway)
            return found.isEmpty ? [Wanted(id: argument)] : found
        }
        let quoted = argument.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let named = try? await list("name=\"\(quoted)\"", gateway)
        if let named, !named.isEmpty { return named }
        let found = try await list(argument, gateway)
        guard !found.isEmpty else { throw ClientFailure("no object matches the filter \(argument)") }
        return found
    }

    /// File ids have 32 hexadecimal digits, ids of uploads the form of a UUID.
    private static func isID(_ text: String) -> Bool {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        return digits.count == 32 && [32, 36].contains(text.utf8.count)
            && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private static func list(_ filter: String, _ gateway: SignedInConnection) async throws -> [Wanted] {
        let service = DataGatewayObjectServiceClient(gateway)
        return try await Pages.all { token in
            let page = try await service.listObjects(
                ListObjectsRequest(pageSize: Pages.size, pageToken: token, filter: filter))
            return (page.objects.map { Wanted(id: $0.fileID, details: $0) }, page.nextPageToken)
        }
    }

    func file(_ wanted: Wanted) async throws -> RemoteFile {
        try await calling { open in
            let reply = try await DataGatewayObjectServiceClient(open).requestDownload(
                RequestDownloadRequest(fileIDs: [wanted.id]))
            let file = try reply.files.first.present("files")
            let read = try file.read.present("read")
            return RemoteFile(
                id: file.fileID, name: FileName(file.name), size: file.sizeBytes, crc64: UInt64(file.crc64Ecma),
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
