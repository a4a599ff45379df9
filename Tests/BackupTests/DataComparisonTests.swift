import Database
import GatewayProto
import TestSupport
import Testing

@testable import Backup

/// The comparison of an archive's database, which may contain anything, with the present one.
@Suite(.timeLimited) struct DataComparisonTests {
    let scratch = Scratch()
    private static let tables = Migration(
        name: "tables",
        sql: """
            CREATE TABLE organizations (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE users (organization_id INTEGER NOT NULL, name TEXT NOT NULL);
            CREATE TABLE sites (organization_id INTEGER NOT NULL, name TEXT NOT NULL);
            CREATE TABLE devices (id TEXT NOT NULL);
            CREATE TABLE objects (file_id TEXT NOT NULL, size INTEGER NOT NULL);
            """)

    private func inspect(_ statements: [String], _ body: (ReadConnection) throws -> Void) throws {
        let path = scratch.path + "/\(statements.count).db"
        let database = try Database(path: path, migrations: [Self.tables])
        try database.writeBlocking { connection in
            for statement in statements { _ = try connection.execute(statement) }
        }
        database.close()
        try Database.inspect(path: path, body)
    }

    @Test func sizesThatExceedANumberDoNotEndTheGateway() throws {
        let sizes = [
            "INSERT INTO objects VALUES ('a', 9223372036854775807)",
            "INSERT INTO objects VALUES ('b', 9223372036854775807)",
        ]
        try inspect(sizes) { archive in
            try DataComparison.check(archive)
            let comparison = try DataComparison(archive: archive, present: archive)
            #expect(comparison.content.objectBytes == .max)
            #expect(comparison.content.objects == 2)
        }
    }

    /// Checks pages of one organization, and organizations whose order differs from that of their names with a slash.
    @Test func usersAndSitesAreComparedByOrganizationAndName() throws {
        let common = [
            "INSERT INTO organizations VALUES (1, 'a'), (2, 'a-b'), (3, 'empty'), (4, 'z')",
            """
            WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2500)
            INSERT INTO users SELECT 1, 'user ' || number FROM numbers
            """,
            "INSERT INTO users VALUES (2, 'user 1'), (4, 'user 1')",
            "INSERT INTO sites VALUES (1, 'north'), (2, 'north'), (2, 'a/b')",
        ]
        let further = ["INSERT INTO users VALUES (2, 'user 2'), (4, 'a')", "INSERT INTO sites VALUES (4, 'north')"]
        try inspect(common) { archive in
            try DataComparison.check(archive)
            try inspect(common + further) { present in
                let comparison = try DataComparison(archive: archive, present: present)
                #expect(comparison.content.users == 2502 && comparison.content.sites == 3)
                #expect(comparison.present.users == 2504 && comparison.present.sites == 4)
                #expect(comparison.lacking.users == 2 && comparison.lacking.sites == 1)
                #expect(comparison.lacking.organizations == 0)
            }
        }
    }

    @Test(arguments: [
        "INSERT INTO organizations VALUES (1, CAST(X'FF' AS TEXT))",
        "INSERT INTO devices VALUES (CAST(X'FFFF' AS TEXT))",
        "INSERT INTO objects VALUES ('a', -1)",
    ])
    func malformedEntriesAreRefused(statement: String) throws {
        try inspect([statement]) { archive in
            #expect(throws: ArchiveError.self) { try DataComparison.check(archive) }
        }
    }
}
