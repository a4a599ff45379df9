import Basics
import Crypto
import Database
import DatabaseTesting
import Foundation
import StoreProtocol
import TestSupport
import Testing

@testable import ObjectStore

/// A store over an engine, with one upload.
final class EngineScene: @unchecked Sendable {  // the folder is only kept
    struct Policy: AccessPolicy {
        let partSize: Int64

        init(partSize: Int64 = 65_536) {
            self.partSize = partSize
        }

        func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
            .allowed(partSize: partSize, needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? { nil }
        func recordActivity(uploadID: String, in transaction: Connection) throws {}
    }

    let store: ObjectStore
    let claims = CredentialClaims(
        uploadID: "upload-1", bucket: "bucket", key: "uploads/upload-1", operations: [.read, .write],
        expiresAt: UnixTime(microseconds: .max), holder: .init(.apiKey(id: "key", epoch: 1), of: 1))
    let permit: WritePermit
    private let folder: TestFolder
    private let database: Database

    init(_ engine: any ObjectEngine) throws {
        folder = try TestFolder()
        database = try DatabaseEngine.open(folder.path + "/db", ObjectStore.migrations)
        store = try ObjectStore(
            engine: engine, database: database, keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))))
        permit = WritePermit(claims: claims, policy: Policy())
    }

    deinit {
        store.close()
        database.close()
    }

    /// Begins a part whose body has not arrived.
    func begin(_ number: Int, of multipartID: String, length: Int) throws -> PartUpload {
        let start = store.startPart(number, of: multipartID, length: Int64(length))
        let decided = try store.decide(claims, Policy(), part: start)
        #expect(decided.decision == .allowed(partSize: 65_536, needsActivity: false))
        return try PartUpload(store, permit: permit, start: start, checks: BodyChecks())
    }

    func send(_ number: Int, of multipartID: String, _ bytes: [UInt8]) throws {
        let part = try begin(number, of: multipartID, length: bytes.count)
        bytes.withUnsafeBytes(part.receive)
        #expect(try part.finish().md5 == Digest.md5(bytes))
    }

    @discardableResult
    func put(_ bytes: [UInt8], _ checks: BodyChecks = BodyChecks()) throws -> StoredObject {
        let put = try ObjectPut(
            store, permit: permit, length: Int64(bytes.count), checks: checks, header: ObjectHeader())
        bytes.withUnsafeBytes(put.receive)
        return try put.finish()
    }
}
