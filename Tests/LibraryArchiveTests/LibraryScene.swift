import Accounts
import AppProto
import Basics
import Database
import DatabaseTesting
import GatewayTesting
import Identity
import Synchronization

@testable import LibraryArchive

/// A database with a member who may have a library.
struct LibraryScene {
    /// The numbers of rows that transactions changed.
    final class Sizes: Sendable {
        let all = Lock<[Int]>([])
    }

    private static let time = "2019-06-09T14:51:29.574Z"
    /// The tables of a library's rows.
    static let tables = [
        "library_books", "library_creators", "library_tags", "library_digests", "library_authorship",
        "library_tagging",
    ]

    let world: TestAccounts
    /// The user ``member(_:)`` of the name `ada`.
    let owner: Int64

    init() async throws {
        let world = try await TestAccounts(migrations: Identity.migrations + LibraryArchiveApp.migrations)
        self.world = world
        owner = try await Self.member("ada", in: world)
    }

    static func id(_ number: Int) -> String { "00000000-0000-0000-0000-\(number.padded(to: 12))" }

    static func digest(_ number: Int, _ content: String = "句") -> PlainDigest {
        PlainDigest(id: id(number), createdAt: time, updatedAt: time, content: content)
    }

    /// Returns a book and a tag that have all of a number of digests.
    static func contents(_ count: Int) -> LibraryContents {
        var contents = LibraryContents()
        contents.digests = (0..<count).map { digest($0) }
        contents.tags = [
            PlainTag(
                id: id(1_000_000), name: "词", createdAt: time, updatedAt: time, digestIDs: (0..<count).map { id($0) })
        ]
        contents.books = [
            PlainBook(
                id: id(2_000_000), createdAt: time, updatedAt: time, name: "书", digestIDs: (0..<count).map { id($0) })
        ]
        return contents
    }

    /// Returns the id of the member of a name, and makes the account if it does not exist.
    func member(_ name: String) async throws -> Int64 { try await Self.member(name, in: world) }

    private static func member(_ name: String, in world: TestAccounts) async throws -> Int64 {
        let now = world.clock.now()
        return try await world.database.write { connection in
            guard let organization = try Accounts.organization(named: "system", in: connection) else { return 0 }
            return try Identity.member(
                issuer: "test", subject: name, email: nil, organizationID: organization.id, at: now, in: connection
            ).user.id
        }
    }

    /// Deletes the account of a member, as all callers do.
    func deleteAccount(_ id: Int64, in connection: Connection) throws {
        guard let user = try UserRecords(connection).find(id: id) else { return }
        try world.accounts.userRemoval.remove(user, at: world.clock.now(), in: connection)
    }

    /// An import or removal whose transactions note the number of rows that they have changed, and fail when `failing` says so.
    func staging(
        _ sizes: Sizes, failing: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> LibraryStaging {
        LibraryStaging(database: world.database) { [database = world.database] frees, body in
            let number = sizes.all.withLock { $0.count }
            let changed = try await database.write(mayUseReserve: frees) { connection in
                let changed = try connection.countingChanges { try body(connection) }
                if failing(number) { throw DatabaseError.full }
                return changed
            }
            sizes.all.withLock { $0.append(changed) }
        }
    }

    func add(_ contents: LibraryContents, _ staging: LibraryStaging, of owner: Int64? = nil) async throws {
        try await staging.add(contents, LibraryRelations(contents), toLibraryOf: owner ?? self.owner)
    }

    /// Returns the library of a member.
    func stored(of owner: Int64? = nil) async throws -> LibraryContents {
        let owner = owner ?? self.owner
        return try await world.database.readInBackground {
            try LibraryGenerations($0).records(of: owner)?.contents() ?? LibraryContents()
        }
    }

    func count(_ table: String) async throws -> Int {
        try await world.database.read { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? -1 }
    }

    /// Returns the number of rows of all libraries.
    func countRows() async throws -> Int {
        var sum = try await count("libraries")
        for table in Self.tables { sum += try await count(table) }
        return sum
    }
}
