import Foundation
import TestSupport
import Testing

@testable import Basics
@testable import Crypto

@Suite(.timeLimited) struct KeyringTests {
    private let folder = NSTemporaryDirectory() + "keyring-tests-" + UUID().uuidString

    private func withFolder(_ body: () throws -> Void) throws {
        try PrivateFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    @Test func keyringIsMadeOnceAndPrivate() throws {
        try withFolder {
            let keys = folder + "/keys"
            let made = try Keyring.open(directory: keys, create: true)
            let opened = try Keyring.open(directory: keys, create: false)
            #expect(made.key(.pepper) == opened.key(.pepper))
            let attributes = try FileManager.default.attributesOfItem(atPath: keys + "/root")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func missingAndDamagedRootsAreRefused() throws {
        try withFolder {
            #expect(throws: KeyringError.self) { try Keyring.open(directory: folder, create: false) }
            try PrivateFile.write([1, 2, 3], to: folder + "/root")
            #expect(throws: KeyringError.self) { try Keyring.open(directory: folder, create: true) }
            #expect(try PrivateFile.read(folder + "/root") == [1, 2, 3])
        }
    }

    @Test func labelsAndNumbersDiffer() {
        let ring = Keyring(root: Secret([UInt8](repeating: 7, count: 32)))
        let keys = [
            ring.key(.pepper), ring.key(.pepper, number: 2), ring.key(.pageTokens), ring.key(.temporaryCredentials),
        ]
        #expect(Set(keys).count == 4)
        #expect(keys[0] == ring.key(.pepper))
    }

    @Test func secretsDoNotPrint() {
        #expect("\(Secret("hush")) \(String(reflecting: Secret("hush")))" == "*** ***")
    }
}
