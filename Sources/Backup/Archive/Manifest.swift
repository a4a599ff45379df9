import FoundationEssentials

/// The description of an archive, which is its first record.
struct Manifest: Codable, Equatable {
    /// The format of the data directory.
    let format: String
    /// The id of the store and its database; see `StoreIdentity`.
    let storeID: String
    let generation: Int64
    /// The time of the backup in RFC 3339.
    let createdAt: String
    /// The number of objects in the list.
    let objects: Int
    /// Whether the objects' data is in the archive.
    let hasObjects: Bool

    /// The largest accepted size in bytes.
    static let limit = 4096

    enum CodingKeys: String, CodingKey {
        case format
        case storeID = "store_id"
        case generation
        case createdAt = "created_at"
        case objects
        case hasObjects = "has_objects"
    }

    var encoded: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return [UInt8](try encoder.encode(self))
        }
    }

    init(
        format: String, storeID: String, generation: Int64, createdAt: String, objects: Int, hasObjects: Bool
    ) {
        self.format = format
        self.storeID = storeID
        self.generation = generation
        self.createdAt = createdAt
        self.objects = objects
        self.hasObjects = hasObjects
    }

    init?(_ bytes: [UInt8]) {
        guard let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(bytes)),
            (0...1 << 40).contains(manifest.objects), (0...1 << 53).contains(manifest.generation)
        else { return nil }
        self = manifest
    }
}

/// A number of items, and the first of them.
package struct Tally: Sendable, Equatable {
    private static let kept = 100

    package private(set) var count = 0
    /// The first items, at most 100.
    package private(set) var first: [String] = []

    package init() {}

    package mutating func add(_ item: String) {
        count += 1
        if first.count < Self.kept { first.append(item) }
    }
}
