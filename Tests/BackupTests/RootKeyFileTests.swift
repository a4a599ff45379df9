import Accounts
import Basics
import Crypto
import Database
import Foundation
import GatewayTesting
import TestSupport
import Testing

@testable import Backup

/// The root key as a file that several gateways of one database have.
@Suite(.timeLimited) struct RootKeyFileTests {
    private let base: TestDatabase
    private var folder: String { base.folder.path }
    private var file: String { folder + "/shared/root" }

    init() throws {
        base = try TestDatabase(Accounts.migrations + DataDirectory.migrations)
    }

    private func make(_ path: String) throws -> Keyring {
        try RootKeyFile.make(path, for: base.database, at: "the server")
    }

    /// Opens the root key like a gateway with a data directory of its own.
    private func serve(_ name: String, rootKey: String?) throws -> Keyring {
        let directory = try DataDirectory.forServing("\(folder)/\(name)", rootKey: rootKey)
        return try directory.openKeyring(for: base.database, at: "the server")
    }

    @Test func gatewaysWithTheFileHaveOneKey() throws {
        let keyring = try make(file)
        #expect(try make(file).fingerprint == keyring.fingerprint)
        for name in ["a", "b"] { #expect(try serve(name, rootKey: file).fingerprint == keyring.fingerprint) }
        #expect(try !PrivateFile.exists(folder + "/a/keys/root"))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func gatewayMakesNoFile() throws {
        let message = problem { _ = try serve("a", rootKey: file) }
        #expect(message.contains("the root key \(file) (database.root_key_file) is missing: copy the file"))
        #expect(message.contains("data-gateway cluster init"))
        #expect(try !PrivateFile.exists(file))
    }

    @Test func anotherKeyIsRefusedWithBothFingerprints() throws {
        let keyring = try make(file)
        let other = folder + "/other"
        try PrivateFile.write([UInt8](repeating: 7, count: 32), to: other)
        let fingerprint = try Keyring.open(other, create: false).fingerprint
        for message in [problem { _ = try serve("a", rootKey: other) }, problem { _ = try make(other) }] {
            #expect(message.contains("the root key \(other) is not that of the database the server"))
            #expect(message.contains(keyring.fingerprint) && message.contains(fingerprint))
        }
        // A file that was there is not removed.
        #expect(try PrivateFile.exists(other))
    }

    @Test func lostFileIsNotMadeAgain() throws {
        _ = try make(file)
        try FileManager.default.removeItem(atPath: file)
        for path in [file, folder + "/new"] {
            #expect(problem { _ = try make(path) }.contains("\(path) (database.root_key_file) is missing"))
            #expect(try !PrivateFile.exists(path))
        }
    }

    @Test func newFileReplacesNone() throws {
        let path = folder + "/file"
        #expect(try PrivateFile.writeNew([1], to: path))
        #expect(try !PrivateFile.writeNew([2], to: path))
        #expect(try PrivateFile.read(path) == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".new") } == [])
    }
}
