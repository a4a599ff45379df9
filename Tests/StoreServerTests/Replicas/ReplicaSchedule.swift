import Basics
import Crypto
import TestSupport

@testable import ObjectStore
@testable import StoreProtocol

/// A random schedule of requests at several gateways, and a model of what they store.
///
/// Each gateway has one request at a time, which stops before each call of the database, for as long as the seed says: a gateway that was
/// stopped, or a connection that is dead for its client. Of what was acknowledged, the request that began last is the one that stays.
struct ReplicaSchedule {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private struct Running {
        let request: ReplicaRequest
        let thread: StoppedRequest
        let start: Int
        var begin = 0
        /// The number of calls before the one that reads what is to be replaced.
        var callsBeforeBase: Int
    }

    private static let count = 18

    private let replicas: Replicas
    private let prefix: String
    private var random: SeededGenerator
    private var running: [Running?]
    private var left = Self.count
    /// The number of steps so far.
    private var step = 0
    private var uploads: [ReplicaUpload] = []
    private var objects: [String: Stored] = [:]
    /// All objects so far, with the steps at which they were stored.
    private var history: [(name: String, step: Int, object: Stored)] = []
    private var trace: [String] = []
    /// The number of requests that succeeded, and of all.
    private(set) var counts = (succeeded: 0, all: 0)

    init(seed: UInt64, _ replicas: Replicas) {
        self.replicas = replicas
        prefix = "seed-\(seed)-"
        random = SeededGenerator(seed: seed)
        running = replicas.stores.map { _ in nil }
    }

    mutating func run() throws {
        defer { finishAll() }
        do {
            while left > 0 || running.contains(where: { $0 != nil }) { try advance() }
            for name in ["a", "b", "c"] { try verify(prefix + name) }
            for index in uploads.indices { try compareParts(index) }
        } catch {
            throw Violation(description: "\(prefix)\(error)\n" + trace.joined(separator: "\n"))
        }
    }

    /// Lets requests end that a violation left behind.
    private mutating func finishAll() {
        for running in running.compactMap(\.self) {
            do { while try running.thread.proceed() == nil {} } catch { return }
        }
    }

    // MARK: Steps

    private mutating func advance() throws {
        step += 1
        guard let replica = running.indices.randomElement(using: &random) else { return }
        if running[replica] != nil {
            // Some are stopped for long.
            if left > 0, replica == step / 16 % running.count { return }
            return try proceed(replica)
        }
        guard left > 0 else { return }
        if Int.random(in: 0..<12, using: &random) == 0 { return replicas.removeFiles(at: replica) }
        left -= 1
        begin(choose(), at: replica)
    }

    private mutating func begin(_ request: ReplicaRequest, at replica: Int) {
        let upload = request.upload.map { uploads[$0] }
        if case .complete(let index, let numbers?) = request {
            uploads[index].unlisted.formUnion(Set(1...3).subtracting(numbers))
        }
        trace.append("\(step): \(replica) begins \(request.summary)")
        let thread = StoppedRequest.begin { [replicas] in try replicas.run(request, at: replica, upload) }
        running[replica] = Running(
            request: request, thread: thread, start: step, callsBeforeBase: request.callsBeforeBase + 1)
    }

    private mutating func proceed(_ replica: Int) throws {
        guard var current = running[replica] else { return }
        if current.callsBeforeBase == 0 { current.begin = step }
        current.callsBeforeBase -= 1
        running[replica] = current
        let ended = try current.thread.proceed()
        if case .complete(let index, _) = current.request, ended == nil { try compareParts(index) }
        guard let ended else { return }
        running[replica] = nil
        counts.all += 1
        do {
            let id = try ended.get()
            trace.append("\(step): \(replica) succeeded, begun at \(current.begin)")
            counts.succeeded += 1
            try note(current, id)
        } catch let error where Self.isRefusal(error) {
            trace.append("\(step): \(replica) failed: \(error)")
        }
        if case .complete(let index, _) = current.request { try compareParts(index) }
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        if case StorageFailure.missing = error { return true }
        return error is WritesInFlight.Revoked || error is ObjectStoreError
    }

    // MARK: Choices

    private mutating func body() -> [UInt8] {
        content([0, 1, 90, 280].randomElement(using: &random) ?? 0, seed: UInt64.random(in: 1...3, using: &random))
    }

    private mutating func choose() -> ReplicaRequest {
        let upload = uploads.indices.suffix(2).randomElement(using: &random)
        switch (Int.random(in: 0..<27, using: &random), upload) {
        case (0..<9, let upload?): return .part(Int.random(in: 1...3, using: &random), upload: upload, body())
        case (9..<13, let upload?):
            let stored = uploads[upload].parts.keys.sorted()
            let listed = stored.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
            return .complete(upload: upload, Bool.random(using: &random) || listed.isEmpty ? nil : listed)
        case (13, let upload?): return .abort(upload: upload)
        case (14..<16, _): return .put(prefix + "a", body())
        case (16..<18, _): return .put(prefix + "b", body())
        case (18, _): return .copy(prefix + "a", to: prefix + "b")
        case (19, _): return .copy(prefix + "b", to: prefix + "a")
        case (20, _): return .copy(prefix + "c", to: prefix + "b")
        case (21..<23, _): return .append(prefix + "c", body())
        case (23..<26, _): return .delete(prefix + (["a", "b", "c"].randomElement(using: &random) ?? ""))
        default: return .initiate(prefix + "a")
        }
    }

    // MARK: Model

    private mutating func note(_ ended: Running, _ id: String?) throws {
        switch ended.request {
        case .initiate(let name): uploads.append(ReplicaUpload(name: name, id: id ?? ""))
        case .part(let number, let index, let body):
            let (earlier, begin) = (uploads[index].parts[number], ended.begin)
            // The same bytes are acknowledged from the row.
            if let earlier, earlier.bytes != body, earlier.begin > begin {
                throw Violation(description: "part \(number) of begin \(begin) replaced that of \(earlier.begin)")
            }
            guard uploads[index].state == .open else { throw Violation(description: "a part of an ended upload") }
            uploads[index].parts[number] = Stored(body, begin: max(begin, earlier?.begin ?? 0))
            try compareParts(index)
        case .complete(let index, let numbers): try noteCompletion(index, numbers, ended)
        case .abort(let index):
            guard uploads[index].state == .open else { throw Violation(description: "an ended upload was aborted") }
            uploads[index].state = .ended
        case .put(let name, let body): try store(Stored(body, begin: ended.begin), at: name)
        case .append(let name, let body):
            try store(Stored((objects[name]?.bytes ?? []) + body, begin: ended.begin), at: name)
        case .delete(let name):
            // An object that was stored since the beginning stays.
            guard history.last(where: { $0.name == name })?.step ?? 0 <= ended.begin else { return try verify(name) }
            endUploads(of: name)
            objects[name] = nil
            try verify(name)
        case .copy(let source, let name):
            let copy = try replicas.object(name)
            let last = history.last { $0.name == source && $0.step < ended.start }?.step ?? 0
            // The same bytes may have been stored by a PUT and as parts.
            let found = history.first {
                $0.name == source && $0.step >= last && $0.object.crc64 == copy?.crc64 && $0.object.etag == copy?.etag
            }
            guard let found else { throw Violation(description: "the copy has other bytes than its source had") }
            try store(Stored(found.object.bytes, begin: ended.begin, etag: found.object.etag), at: name)
        }
    }

    private mutating func noteCompletion(_ index: Int, _ numbers: [Int]?, _ ended: Running) throws {
        let upload = uploads[index]
        guard upload.state == .open else {
            guard upload.state == .completed else { throw Violation(description: "an ended upload was completed") }
            return
        }
        let parts = try (numbers ?? upload.parts.keys.sorted()).map { number in
            guard let part = upload.parts[number] else {
                throw Violation(description: "the object has part \(number), which was not stored")
            }
            return part
        }
        let etag = ETag.multipart(partMD5s: parts.map { Digest.md5($0.bytes) }, .oss)
        try store(Stored(parts.flatMap(\.bytes), begin: ended.begin, etag: etag), at: upload.name)
        uploads[index].state = .completed
    }

    private mutating func store(_ object: Stored, at name: String) throws {
        if let earlier = objects[name], earlier.begin > object.begin {
            throw Violation(description: "an object of begin \(object.begin) replaced one of begin \(earlier.begin)")
        }
        endUploads(of: name)
        objects[name] = object
        history.append((name, step, object))
        try verify(name)
    }

    /// Notes that the object of a name is not that of a completed upload any more.
    private mutating func endUploads(of name: String) {
        for index in uploads.indices where uploads[index].name == name && uploads[index].state == .completed {
            uploads[index].state = .ended
        }
    }

    /// Compares the row and the bytes of an object with the model.
    private func verify(_ name: String) throws {
        let (found, expected) = (try replicas.object(name), objects[name])
        guard found?.etag == expected?.etag, found?.crc64 == expected?.crc64,
            found?.size == expected.map({ Int64($0.bytes.count) })
        else { throw Violation(description: "\(name) is not the object that was stored last") }
        guard try replicas.read(name) == expected?.bytes else {
            throw Violation(description: "the bytes of \(name) do not match its ETag")
        }
    }

    /// Compares the parts of an open upload with the model. A Complete may have dropped parts that it does not list.
    private mutating func compareParts(_ index: Int) throws {
        guard uploads[index].state == .open else { return }
        let rows = try replicas.parts(of: uploads[index].id)
        let found = Dictionary(uniqueKeysWithValues: rows.map { ($0.number, ETag.whole(md5: $0.md5, .oss)) })
        for (number, part) in uploads[index].parts where found[number] == nil {
            guard uploads[index].unlisted.contains(number) else {
                throw Violation(description: "part \(number) of begin \(part.begin) is lost")
            }
            uploads[index].parts[number] = nil
        }
        guard found == uploads[index].parts.mapValues(\.etag) else {
            throw Violation(description: "the parts are not those that were stored last")
        }
    }
}

extension ReplicaRequest {
    /// The index of the multipart upload.
    fileprivate var upload: Int? {
        switch self {
        case .part(_, let upload, _), .complete(let upload, _), .abort(let upload): upload
        case .initiate, .put, .copy, .append, .delete: nil
        }
    }

    fileprivate var summary: String {
        switch self {
        case .initiate(let name): "initiate \(name)"
        case .part(let number, let upload, let body): "part \(number) of upload \(upload), \(body.count) bytes"
        case .complete(let upload, let numbers):
            "complete upload \(upload) of \(numbers.map { "\($0)" } ?? "all parts")"
        case .abort(let upload): "abort upload \(upload)"
        case .put(let name, let body): "put \(name), \(body.count) bytes"
        case .copy(let source, let name): "copy \(source) to \(name)"
        case .append(let name, let body): "append \(body.count) bytes to \(name)"
        case .delete(let name): "delete \(name)"
        }
    }
}
