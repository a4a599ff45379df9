import DatabaseTesting
import Foundation
import TestSupport
import Testing

@testable import Database

/// A file that is damaged, or is no database: the error names it, and says what to do.
@Suite(.timeLimited, .onSQLite) struct DamageTests {
    private let scratch: Scratch
    private var path: String { scratch.path + "/test.db" }

    init() throws {
        scratch = try Scratch()
        let database = try scratch.database()
        defer { database.close() }
        try database.writeBlocking { _ = try $0.execute("INSERT INTO notes (body) VALUES ('kept')") }
    }

    /// Overwrites the file from `offset` on.
    private func damage(from offset: Int) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes.replaceSubrange(offset..., with: Data(repeating: 0xAA, count: bytes.count - offset))
        try bytes.write(to: URL(filePath: path))
    }

    private func expectExplained(_ body: () throws -> Void) {
        #expect {
            try body()
        } throws: { error in
            (error as? DatabaseError)?.isDamage == true && "\(error)".contains("the database \(path) is damaged (")
                && "\(error)".contains("restore a backup with 'data-gateway restore'")
        }
    }

    @Test func damagedPagesAreExplained() throws {
        try damage(from: 4096)
        expectExplained {
            _ = try Database.inspect(path: path) { try $0.query("SELECT body FROM notes") { $0.text(0) } }
        }
    }

    @Test func aFileThatIsNoDatabaseIsExplained() throws {
        try damage(from: 0)
        expectExplained {
            _ = try Database.inspect(path: path) { try $0.query("SELECT body FROM notes") { $0.text(0) } }
        }
        expectExplained { _ = try scratch.database() }
    }

    @Test func anOutcomeIsOpenAfterDamage() {
        #expect(DatabaseError(code: 11, message: "malformed", path: path).leavesOutcomeOpen)
        #expect(!DatabaseError(code: 1, message: "no such table", path: path).isDamage)
    }
}
