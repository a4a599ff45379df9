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
            let made = try Keyring.open(keys + "/root", create: true)
            let opened = try Keyring.open(keys + "/root", create: false)
            #expect(made.key(.pepper) == opened.key(.pepper))
            let attributes = try FileManager.default.attributesOfItem(atPath: keys + "/root")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func missingAndDamagedRootsAreRefused() throws {
        try withFolder {
            #expect(throws: KeyringError.self) { try Keyring.open(folder + "/root", create: false) }
            try PrivateFile.write([1, 2, 3], to: folder + "/root")
            #expect(throws: KeyringError.self) { try Keyring.open(folder + "/root", create: true) }
            #expect(try PrivateFile.read(folder + "/root") == [1, 2, 3])
        }
    }

    @Test func fingerprintsTellKeysApart() {
        let rings = [7, 8].map { Keyring(root: Secret([UInt8](repeating: $0, count: 32))) }
        #expect(rings[0].fingerprint == "03242bfff3a25362" && rings[1].fingerprint.utf8.count == 16)
        #expect(rings[0].fingerprint != rings[1].fingerprint)
        #expect(Keyring.fingerprint(ofCheckValue: rings[0].checkValue) == rings[0].fingerprint)
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
