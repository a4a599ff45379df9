import Basics
import Database
import ObjectFilters

/// Decides which objects of a page of a list represent their folders.
///
/// The first matching object of a folder, in the order of the list, does; the others are omitted. Whether an earlier page has a
/// matching object of the folder follows from the page token, which has the latest folders, else from the folder's own objects.
struct FolderGrouping {
    enum Decision: Equatable {
        /// The object is in no folder.
        case file
        /// The object is the first of its folder.
        case first(UploadedFolder)
        case omitted
        /// The decision of the next page, because more objects of the folder have to be compared than one page may.
        case undecided
    }

    /// The number of objects that are compared before the others of a folder are sorted.
    private static let few = 8
    /// The limit of objects that are compared for one page beside its own.
    private static let mostCompared = 10_000
    /// The limit of objects that are counted for one page, after which it ends.
    private static let mostCounted = 50_000
    private static let chunk = 128

    private let records: FolderRecords
    private let rows: MatchingRows
    private let presence: TrashPresence
    private let parent: String?
    /// `nil` for the first page.
    private let start: ListStart?
    private let cursor: FolderCursor
    /// The number of objects that were compared beside those of the page.
    private(set) var compared = 0
    private var examined: ExaminedFolder?
    /// The folders of this page, with the number of the latest object of each.
    private var folders: [UploadedFolder: Int] = [:]
    private var decisions = 0
    private var counted = 0

    /// - Parameters:
    ///   - place: the place before the page; `nil` = it is the first one.
    ///   - scope: the organization; `nil` = all.
    init(
        _ cursor: FolderCursor, after place: OrderPlace?, order: ObjectOrder?, _ filter: ResolvedFilter, scope: Int64?,
        in connection: ReadConnection
    ) {
        records = FolderRecords(connection)
        rows = MatchingRows(filter, scope: scope, in: connection)
        presence = TrashPresence(filter)
        parent = filter.folder
        start = place.map { ListStart(order: order, place: $0, newest: cursor.newest) }
        self.cursor = cursor
        examined = cursor.examined
    }

    /// Whether the page ends because many objects of its folders were counted.
    var isSpent: Bool { counted >= Self.mostCounted }

    /// - Parameter object: the next one that matches.
    mutating func decide(_ object: CatalogObject) throws -> Decision {
        guard let folder = UploadedFolder(of: object, below: parent) else { return .file }
        if folders[folder] != nil {
            note(folder)
            return .omitted
        }
        switch try isOnEarlierPage(folder) {
        case true?:
            note(folder)
            return .omitted
        case false?: return .first(folder)
        case nil: return .undecided
        }
    }

    /// Notes that the page has an object that represents a folder, or omits one of the folder.
    mutating func note(_ folder: UploadedFolder) {
        decisions += 1
        folders[folder] = decisions
    }

    /// Counts all objects of a folder, whether or not the filter matches them.
    mutating func contents(of folder: UploadedFolder) throws -> FolderContents {
        let contents = try records.contents(of: folder, presence)
        counted += contents.objects
        return contents
    }

    /// Returns the cursor of the next page.
    ///
    /// - Parameter cut: folders whose objects did not fit into the page.
    func next(without cut: [UploadedFolder]) -> FolderCursor {
        var next = cursor
        next.examined = cut.isEmpty ? examined : nil
        next.add(folders.filter { !cut.contains($0.key) }.sorted { $0.value < $1.value }.map(\.key))
        return next
    }

    /// Returns whether an object of a folder matches that precedes the page; `nil` = the next page continues to compare.
    private mutating func isOnEarlierPage(_ folder: UploadedFolder) throws -> Bool? {
        guard let start else { return false }
        let digest = folder.digest
        if cursor.shown.contains(digest) { return true }
        let known = examined.flatMap { $0.digest == digest ? $0.position : nil }
        examined = nil
        if known == nil {
            let some = try records.positions(of: folder, before: start, presence, below: nil, limit: Self.few)
            if try hasMatch(at: some) { return true }
            if some.count < Self.few { return false }
        }
        let limit = Self.mostCompared - compared
        guard limit > 0 else { return nil }
        let positions = try records.positions(
            of: folder, before: start, presence, below: known ?? .max, limit: limit)
        if try hasMatch(at: positions) { return true }
        guard positions.count == limit else { return false }
        examined = positions.last.map { ExaminedFolder(digest: digest, position: $0) }
        return nil
    }

    private mutating func hasMatch(at positions: [Int64]) throws -> Bool {
        for first in stride(from: 0, to: positions.count, by: Self.chunk) {
            let some = Array(positions[first..<min(first + Self.chunk, positions.count)])
            compared += some.count
            if try !rows.matches(at: some, row: { _ in }).isEmpty { return true }
        }
        return false
    }
}
