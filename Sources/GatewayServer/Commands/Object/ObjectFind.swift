import CommandLineInterface

/// `data-gateway object find`
struct ObjectFind: ClientCommand {
    static let name = "find"
    static let summary = "List objects by a part of their name, by tags, size or age, as ls does"
    static let discussion = ListObjects.discussion
    static let examples = ["object find 'name:*camera*'", "object find 'name:run07* size>1MiB'"]
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
