import Basics
import Database
import ObjectFilters

/// The number and size of a folder's objects, and the time that they cover.
struct FolderContents: Sendable, Hashable {
    /// The number of objects that are counted.
    static let mostObjects = 10_000

    var objects = 0
    var bytes: Int64 = 0
    /// Whether there are more objects, which were not counted.
    var isLowerBound = false
    var recordedFrom: UnixTime?
    var recordedTo: UnixTime?
}

/// A folder as the row of a list.
struct ListedFolder: Sendable {
    let folder: UploadedFolder
    let contents: FolderContents
}

/// The SQL of folders, which are ranges of the index `objects_by_path`.
struct FolderRecords {
    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    private static let path = "coalesce(relative_path, name)"

    /// The conditions on the objects of a folder; their parameters are those of ``arguments(_:)``. The plus signs leave no index but
    /// that of paths: others have the order of a list, but they have all objects of the organization.
    private static func range(_ folder: UploadedFolder) -> String {
        let device =
            switch folder.owner {
            case .device: "device_id IS NOT NULL"
            case .site: "device_id IS NULL"
            }
        return """
            \(StoredFileSchema.owner) = $1 AND \(path) >= $2 AND \(path) < $3 AND +organization_id = $4
                AND relative_path IS NOT NULL AND \(device)
            """
    }

    private static func arguments(_ folder: UploadedFolder) -> [(any Bindable)?] {
        let owner: any Bindable =
            switch folder.owner {
            case .device(let id): id
            case .site(let id): id
            }
        // "0" follows "/" in ASCII.
        return [owner, "\(folder.path)/", "\(folder.path)0", folder.organizationID]
    }

    /// Counts the objects of a folder.
    func contents(of folder: UploadedFolder, _ presence: TrashPresence) throws -> FolderContents {
        let most = FolderContents.mostObjects
        return try connection.query(
            """
            SELECT count(*) AS objects, coalesce(sum(size), 0) AS bytes, min(recorded_from) AS recorded_from,
                max(recorded_to) AS recorded_to
            FROM (
                SELECT size, recorded_from, recorded_to FROM objects
                WHERE \(Self.range(folder)) AND \(presence.condition) LIMIT \(most + 1)
            ) AS files
            """, arguments: Self.arguments(folder)
        ) { row in
            let objects = row.int("objects")
            return FolderContents(
                objects: min(objects, most), bytes: row.int64("bytes"), isLowerBound: objects > most,
                recordedFrom: row.optionalTime("recorded_from"), recordedTo: row.optionalTime("recorded_to"))
        }.first ?? FolderContents()
    }

    /// Returns the positions of all objects of a folder, in descending order; `nil` if there are more than `limit`.
    func positions(of folder: UploadedFolder, limit: Int) throws -> [Int64]? {
        let positions = try connection.query(
            "SELECT position FROM objects WHERE \(Self.range(folder)) LIMIT $5",
            arguments: Self.arguments(folder) + [limit + 1]
        ) { $0.int64("position") }
        return positions.count > limit ? nil : positions.sorted(by: >)
    }

    /// Returns positions of objects of a folder that precede the start of a page, in descending order.
    ///
    /// - Parameter bound: the highest ones below it; `nil` = any. Then the index is read from the end where such objects are if paths
    ///   have the order of the list, as they often have, so that most of the folder is not read.
    func positions(
        of folder: UploadedFolder, before start: ListStart, _ presence: TrashPresence, below bound: Int64?, limit: Int
    ) throws -> [Int64] {
        let ordering = bound == nil ? "\(Self.path) \(start.isDescending ? "DESC" : "ASC")" : "+position DESC"
        return try connection.query(
            """
            SELECT position FROM objects
            WHERE \(Self.range(folder)) AND \(presence.condition) AND \(start.preceding) AND +position < $8
            ORDER BY \(ordering) LIMIT $5
            """, arguments: Self.arguments(folder) + [limit] + start.arguments(below: bound ?? .max)
        ) { $0.int64("position") }.sorted(by: >)
    }
}

/// Whether objects of a list are in the trash.
enum TrashPresence: Sendable {
    case outside, inside, both

    init(_ filter: ResolvedFilter) {
        self = filter.excludesTrash ? .outside : filter.requires(.trashed(true)) ? .inside : .both
    }

    /// The condition on columns of `objects`. Corrupted objects are in no list unless they are in the trash.
    fileprivate var condition: String {
        switch self {
        case .outside: "trashed_at IS NULL AND bad_at IS NULL"
        case .inside: "trashed_at IS NOT NULL"
        case .both: "(trashed_at IS NOT NULL OR bad_at IS NULL)"
        }
    }
}

/// The start of a page of a list that is not its first.
struct ListStart: Sendable {
    /// `nil` = newest first.
    let order: ObjectOrder?
    /// The last place before the page; newest first, the position below which it begins.
    let place: OrderPlace
    /// The highest position when the first page was read: objects above it came later.
    let newest: Int64

    var isDescending: Bool { order?.isDescending ?? true }

    /// The condition on objects of earlier pages. Its parameters are `$6` and `$7`, and after `$8`, the bound, `$9`.
    fileprivate var preceding: String {
        guard let order else { return "+position >= $6 AND +position <= $7" }
        let comparison = isDescending ? ">" : "<"
        return """
            (\(order.sql) \(comparison) $9 OR \(order.sql) = $9 AND position \(comparison)= $6) AND +position <= $7
            """
    }

    fileprivate func arguments(below bound: Int64) -> [(any Bindable)?] {
        [place.position, newest, bound] + (order == nil ? [] : [place.value.argument])
    }
}
