import Basics
import Database
import Foundation
import HTTPTestClient
import HTTPTypes
import S3Engine
import StoreTesting
import TestSupport
import Testing

@testable import EngineCopy
@testable import ObjectStore
@testable import StoreProtocol

/// Random histories of uploads, in a directory, in a bucket, and in both while objects are copied between them: everything that a
/// client sees is the same.
@Suite(.timeLimited) struct SegmentHistoryTests {
    /// The number of histories; `SEGMENT_HISTORIES` in the environment replaces it.
    private static let count =
        ProcessInfo.processInfo.environment["SEGMENT_HISTORIES"].flatMap { UInt64($0) } ?? 24

    @Test(arguments: 0..<count) func bucketIsLikeADirectory(seed: UInt64) throws {
        var history = try History(seed: seed)
        for _ in 0..<30 { try history.step() }
        try history.end()
    }

    /// Copied, purged and appended bytes share segments, whose removals must keep what others need.
    @Test func objectsOutliveTheirRemovalsAndARestart() throws {
        let folder = try TestFolder(inMemory: true)
        let store = try TestStore(inMemory: true, engine: try TestBucket.makeEngine(spoolFolder: folder.path))
        store.anySizes()
        var bodies: [String: [UInt8]] = [:]
        for name in ["upload-1", "upload-2"] {
            let client = store.client(uploadID: name)
            let id = try client.initiate()
            let parts = (1...70).map { content(300 + $0, seed: UInt64($0)) }
            for (number, part) in parts.enumerated() {
                #expect(try client.part(number + 1, of: id, part).status == 200)
            }
            #expect(try client.completeAll(id).status == 200)
            bodies[name] = Array(parts.joined())
        }
        _ = try store.copy("upload-1", to: "upload-3")
        _ = try store.copy("upload-3", to: "upload-4")
        (bodies["upload-3"], bodies["upload-4"]) = (bodies["upload-1"], bodies["upload-1"])
        for removed in ["upload-1", "upload-3", "upload-2"] {
            try store.delete(removed)
            bodies[removed] = nil
            #expect(try store.files().count == bodies.count)
            try store.restart()
            for (name, body) in bodies { #expect(try store.client(uploadID: name).get() == body) }
        }
        try store.delete("upload-4")
        #expect(try store.files().isEmpty)
    }
}

/// The same requests to a store in a directory and to one in a bucket.
private struct History {
    private static let names = ["upload-1", "upload-2", "upload-3", appended]
    /// The object that most appends are to.
    private static let appended = "upload-4"
    private static let sizes = [0, 1, 70_000, 262_144, 262_145, 400_000]

    private let spool: TestFolder
    private let stores: [TestStore]
    private var random: SeededGenerator
    /// The open multipart uploads, with their id in each store.
    private var uploads: [(name: String, ids: [String])] = []
    private let trace: String

    init(seed: UInt64) throws {
        spool = try TestFolder(inMemory: true)
        stores = [
            try TestStore(inMemory: true),
            try TestStore(
                inMemory: true,
                engine: try TestBucket.makeEngine(spoolFolder: spool.path) {
                    $0.spool.below = seed % 3 == 0 ? 1 << 40 : 0
                }),
            try TestStore(.paired),
        ]
        for store in stores { store.anySizes() }
        random = SeededGenerator(seed: seed)
        trace = "history \(seed)"
    }

    mutating func step() throws {
        let name = Self.names.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<17, using: &random) {
        case 0: try put(name)
        case 1: try initiate(name)
        case 2...5: try part()
        case 6, 7: try complete()
        case 8: try compare { store in try store.copy(name, to: Self.names[0]) }
        case 9: try append(name)
        case 13...16: try append(Self.appended)
        case 10: try compare { try $0.delete(name) }
        case 11: try stores[2].pairedEngines.copy?.pass()
        default:
            if Bool.random(using: &random) { try abort() } else { try restart() }
        }
        try read(name)
    }

    /// Compares what is left, and the bucket with its rows.
    mutating func end() throws {
        for name in Self.names { try read(name) }
        for store in stores { _ = try store.files() }
        for name in Self.names { try compare { try $0.delete(name) } }
        while !uploads.isEmpty { try abort() }
        #expect(try stores.map { try $0.files().count } == [0, 0, 0], "\(trace)")
    }

    // MARK: Requests

    private mutating func body() -> [UInt8] {
        content(Self.sizes.randomElement(using: &random) ?? 0, seed: UInt64.random(in: 1...9, using: &random))
    }

    private mutating func put(_ name: String) throws {
        let body = body()
        try compare { try Self.summary(try $0.client(uploadID: name).put(body)) }
    }

    private mutating func initiate(_ name: String) throws {
        uploads.append((name, try stores.map { try $0.client(uploadID: name).initiate() }))
    }

    private mutating func part() throws {
        guard let (name, ids) = uploads.randomElement(using: &random) else { return }
        let (number, body) = (Int.random(in: 1...4, using: &random), body())
        try compare { store, index in
            try Self.summary(try store.client(uploadID: name).part(number, of: ids[index], body))
        }
    }

    private mutating func complete() throws {
        guard let index = uploads.indices.randomElement(using: &random) else { return }
        let (name, ids) = uploads[index]
        let listed = (1...4).filter { _ in Bool.random(using: &random) }
        let statuses = try compare { store, index in
            let client = store.client(uploadID: name)
            let parts = try client.send("GET", query: "uploadId=\(ids[index])")
            let found = zip(parts.elements("PartNumber"), parts.elements("ETag")).compactMap { number, etag in
                Int(number).map { ($0, etag.replacing("&quot;", with: "\"")) }
            }
            let response = try client.complete(ids[index], found.filter { listed.contains($0.0) })
            return try Self.summary(response) + " \(response.fields["x-oss-hash-crc64ecma"] ?? "")"
        }
        if statuses.hasPrefix("200") { uploads.remove(at: index) }
    }

    private mutating func abort() throws {
        guard let (name, ids) = uploads.popLast() else { return }
        try compare { store, index in
            try Self.summary(try store.client(uploadID: name).send("DELETE", query: "uploadId=\(ids[index])"))
        }
    }

    private mutating func append(_ name: String) throws {
        let body = body()
        try compare { try $0.append(body, to: name) }
    }

    private mutating func restart() throws {
        let isClean = Bool.random(using: &random)
        for store in stores[..<2] { try store.restart(isClean: isClean) }
        let target: ObjectEngineKind = Bool.random(using: &random) ? .s3 : .directory
        try stores[2].restart(isClean: isClean, with: stores[2].pair(stores[2].pairedEngines.bucket, target: target))
    }

    private mutating func read(_ name: String) throws {
        let start = Int.random(in: 0..<500_000, using: &random)
        let range = "bytes=\(start)-\(start + Int.random(in: 0..<300_000, using: &random))"
        for fields in [[:], ["Range": range]] {
            let found = try stores.map { try $0.client(uploadID: name).send("GET", fields: fields) }
            for other in found.dropFirst() {
                #expect(found[0].status == other.status, "\(trace)")
                // Error documents have the id of their request.
                #expect(found[0].status >= 400 || found[0].body == other.body, "\(trace)")
                for field in ["etag", "x-oss-hash-crc64ecma"] {
                    #expect(found[0].fields[field] == other.fields[field], "\(trace)")
                }
            }
        }
    }

    // MARK: Comparison

    @discardableResult
    private func compare(_ request: (TestStore, _ index: Int) throws -> String) throws -> String {
        let responses = try stores.enumerated().map { try request($0.element, $0.offset) }
        #expect(responses.allSatisfy { $0 == responses[0] }, "\(trace): \(responses)")
        return responses[0]
    }

    private func compare(_ request: (TestStore) throws -> String) throws {
        try compare { store, _ in try request(store) }
    }

    private static func summary(_ response: RawConnection.Response) throws -> String {
        response.status == 200 || response.status == 204
            ? "\(response.status) \(response.fields["etag"] ?? "")" : response.error
    }
}

extension TestStore {
    var pairedEngines: PairedEngines {
        guard let paired = store.engine as? PairedEngines else { preconditionFailure("the store has one engine") }
        return paired
    }

    /// Lets parts have any size.
    func anySizes() {
        policy.decision.withLock { $0 = .allowed(partSize: 0, needsActivity: false) }
    }

    @discardableResult
    func copy(_ name: String, to other: String) throws -> String {
        let source = try store.decide(claims(uploadID: name), policy, readsObject: true)
        let permit = WritePermit(claims: claims(uploadID: other), policy: policy)
        return try outcome {
            try store.copy(source, to: permit, conditions: Preconditions([:])) {
                ObjectHeader(contentType: $0.contentType, kept: $0.kept)
            }
        }
    }

    fileprivate func append(_ bytes: [UInt8], to name: String) throws -> String {
        let claims = claims(uploadID: name)
        let size = try database.readBlocking { try store.object(uploadID: name, in: $0) }?.size ?? 0
        return try outcome {
            let append = try ObjectAppend(
                store, permit: WritePermit(claims: claims, policy: policy), at: size,
                Payload(length: Int64(bytes.count), checks: BodyChecks()), header: ObjectHeader())
            bytes.withUnsafeBytes(append.receive)
            return try append.finish()
        }
    }

    @discardableResult
    func delete(_ name: String) throws -> String {
        try store.delete(WritePermit(claims: claims(uploadID: name), policy: policy))
        return ""
    }

    private func outcome(_ body: () throws -> StoredObject) throws -> String {
        do {
            let object = try body()
            return "\(object.etag) \(object.size) \(object.crc64) \(object.partCount)"
        } catch let error as ObjectStoreError {
            return "\(error)"
        }
    }
}
