import Accounts
import Basics
import Crypto
import Database
import Foundation
import TestSupport
import Testing

@testable import Backup

/// Keys that are missing, or are those of another database.
@Suite(.timeLimited) struct KeysTests {
    private let scratch = Scratch()

    private var path: String { scratch.path + "/data" }

    private func open(_ body: (Database) throws -> Void) throws {
        let database = try Database(
            path: path + "/gateway.db", migrations: Accounts.migrations + DataDirectory.migrations)
        defer { database.close() }
        try body(database)
    }

    /// Serves a new directory once, as far as keys and database go.
    private func serve() throws -> DataDirectory {
        let directory = try DataDirectory.forServing(path)
        let keyring = try directory.openKeyring()
        try open { try directory.require(keyring, of: $0) }
        return directory
    }

    private func replaceRoot() throws {
        try PrivateFile.write([UInt8](repeating: 7, count: 32), to: path + "/keys/root")
    }

    @Test func anotherRootKeyIsRefusedUntilItIsAccepted() throws {
        let directory = try serve()
        let right = try PrivateFile.contents(of: path + "/keys/root")
        try replaceRoot()
        let message = problem {
            let keyring = try directory.openKeyring()
            try open { try directory.require(keyring, of: $0) }
        }
        #expect(message.contains("\(path)/keys/root is not that of the database \(path)/gateway.db"))
        #expect(message.contains("restore a backup") && message.contains("doctor --accept-root-key"))
        try PrivateFile.write(right, to: path + "/keys/root")
        try open { try directory.require(directory.openKeyring(), of: $0) }
        try replaceRoot()
        try open { try directory.acceptRootKey(for: $0) }
        try open { try directory.require(directory.openKeyring(), of: $0) }
    }

    @Test func aDatabaseOfAnEarlierVersionGetsTheKeyOfItsFirstStart() throws {
        let directory = try serve()
        try open { database in _ = try database.writeBlocking { try $0.execute("DELETE FROM root_key") } }
        try open { try directory.require(directory.openKeyring(), of: $0) }
        try replaceRoot()
        #expect(throws: KeyringError.self) { try open { try directory.require(directory.openKeyring(), of: $0) } }
    }

    @Test(arguments: ["store/identity", "served", "keys/es256-1"], [true, false])
    func aDirectoryWithoutItsDatabaseIsNotNew(evidence: String, hasEmptyFile: Bool) throws {
        let directory = try serve()
        try FileManager.default.removeItem(atPath: path + "/gateway.db")
        if hasEmptyFile { #expect(FileManager.default.createFile(atPath: path + "/gateway.db", contents: nil)) }
        // The first start crashed before it made a database.
        #expect(directory.isNew)
        _ = try directory.openKeyring()
        try PrivateFile.makeFolder(path + "/store")
        try PrivateFile.write([1], to: "\(path)/\(evidence)")
        let message = problem { _ = try directory.openKeyring() }
        #expect(message.contains("the database \(path)/gateway.db is missing, but \(path)/"))
        #expect(message.contains("put the database back, or restore a backup with 'data-gateway restore"))
        directory.release()
        #expect(problem { _ = try DataDirectory.openForRepair(path) } == message)
        #expect(DataDirectory.exists(path + "/gateway.db") == hasEmptyFile)
    }

    /// The database is set aside, or moved, until the restore is completed.
    @Test(arguments: ["restoring", "restore/request"])
    func anInterruptedRestoreIsTheReasonForAMissingDatabase(trace: String) throws {
        let directory = try serve()
        directory.release()
        try FileManager.default.removeItem(atPath: path + "/gateway.db")
        try PrivateFile.makeFolder(path + "/store")
        try PrivateFile.write([1], to: path + "/store/identity")
        try FileManager.default.createDirectory(atPath: "\(path)/\(trace)", withIntermediateDirectories: true)
        let message = problem { _ = try DataDirectory.openForRepair(path) }
        #expect(
            message.contains("did not finish: run it again")
                || message.contains("start the gateway, which completes it"))
    }

    @Test func missingKeysAreNotMadeBesideADatabase() throws {
        let directory = try serve()
        try FileManager.default.removeItem(atPath: path + "/keys")
        let message = problem { _ = try directory.openKeyring() }
        #expect(message.contains("keys/root is missing, but the database exists: restore the key"))
        #expect(
            try directory.keyProblems(nil) == [
                "the folder \(path)/keys is missing: restore it from the backup of the database"
            ])
    }

    @Test func theDoctorNamesEachProblemOfTheKeys() throws {
        let directory = try serve()
        func problems() throws -> [String] {
            try Database.inspect(path: path + "/gateway.db") { try directory.keyProblems($0) }
        }
        #expect(try problems().isEmpty)
        try open { database in
            _ = try database.writeBlocking {
                try $0.execute(
                    "INSERT INTO signing_keys (number, sealed, signs_from) VALUES (3, $1, 0)",
                    [UInt8](repeating: 1, count: 60))
            }
        }
        #expect(try problems().map { $0.contains("the signing key 3 in the database cannot be read") } == [true])
        try replaceRoot()
        #expect(try problems().map { $0.contains("is not that of the database") } == [true])
        try PrivateFile.write([1], to: path + "/keys/root")
        #expect(try problems().map { $0.contains("is damaged (it must be 32 bytes)") } == [true])
        try FileManager.default.removeItem(atPath: path + "/keys/root")
        #expect(try problems().map { $0.contains("is missing, but the database exists") } == [true])
    }
}
