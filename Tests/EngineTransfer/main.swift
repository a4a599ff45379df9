import Basics
import Crypto
import Foundation
import HTTPClient
import S3Engine
import StoreClient
import StoreProtocol

// engine-transfer put|get ENDPOINT BUCKET KEY SIZE sends an object to an S3 engine, or reads one, in pieces, and prints the used memory.
// engine-transfer calls ENDPOINT BUCKET makes each call of S3 in an empty bucket, and checks the responses.
// engine-transfer probe ENDPOINT BUCKET prints the findings about a bucket.
// engine-transfer prefix ENDPOINT BUCKET takes a prefix, checks that no second gateway gets it, loses it, and prints why.
// The credentials are in the environment. The exit code of a failure is 1; its reason is printed.

/// The bytes of an object: its blocks differ in their first bytes.
struct Pattern {
    static let blockSize: Int64 = 256 << 10
    private let base = (0..<Int(Self.blockSize)).map { UInt8(truncatingIfNeeded: ($0 &* 0x9E37_79B9) >> 13) }
    let size: Int64

    func block(at offset: Int64) -> [UInt8] {
        let number = UInt64(offset / Self.blockSize)
        let head = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return Array((head + base[8...]).prefix(Int(min(Self.blockSize, size - offset))))
    }
}

struct Wrong: Error, CustomStringConvertible {
    let description: String
}

/// Returns the resident memory in bytes.
func memory() -> Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
}

func put(_ key: String, _ pattern: Pattern, _ store: S3Client, sampled: () -> Void) async throws {
    let upload = try await store.upload(key, size: pattern.size)
    for offset in stride(from: 0, to: pattern.size, by: Int64.Stride(Pattern.blockSize)) {
        guard try await upload.write(pattern.block(at: offset)) else { break }
        sampled()
    }
    _ = try await upload.finish()
}

func get(_ key: String, _ pattern: Pattern, _ store: S3Client, sampled: () -> Void) async throws {
    let download = try await store.download(key, 0..<pattern.size)
    var held: [UInt8] = []
    var offset: Int64 = 0
    while offset < pattern.size {
        let expected = pattern.block(at: offset)
        while held.count < expected.count {
            let piece = try await download.read()
            guard !piece.isEmpty else { throw Wrong(description: "the body is too short") }
            held += piece
        }
        guard memcmp(held, expected, expected.count) == 0 else {
            throw Wrong(description: "wrong bytes at \(offset)")
        }
        held.removeFirst(expected.count)
        offset += Int64(expected.count)
        sampled()
    }
    guard held.isEmpty, try await download.read().isEmpty else { throw Wrong(description: "the body is too long") }
}

func check(_ isRight: Bool, _ what: String) throws {
    if !isRight { throw Wrong(description: "wrong: \(what)") }
}

/// Returns the kind of the refusal that ends an operation.
func refusal(_ operation: () async throws -> some Any) async throws -> StoreRefusal.Kind {
    do {
        _ = try await operation()
    } catch let refusal as StoreRefusal {
        try check(!refusal.requestID.isEmpty, "request id of \(refusal)")
        return refusal.kind
    }
    throw Wrong(description: "an operation was not refused")
}

func makeCalls(_ store: S3Client) async throws {
    let bytes = Array("0123456789".utf8)
    let md5 = Hex.lower(Digest.md5(bytes))
    var properties = S3Properties()
    properties.isNew = true
    properties.metadata = [("store-id", "7")]
    properties.storageClass = "STANDARD"
    try check(try await store.put("a/1 +ü", bytes, properties).contains(md5), "ETag")
    try check(
        try await refusal { try await store.put("a/1 +ü", bytes, properties) } == .preconditionFailed, "If-None-Match")
    let found = try await store.head("a/1 +ü")
    try check(found?.size == 10 && found?.metadata["store-id"] == "7" && found?.modifiedAt != nil, "HEAD")
    try check(try await store.head("none") == nil, "HEAD of nothing")
    try check(try await store.download("a/1 +ü", 2..<5).rest().body == Array("234".utf8), "range")
    try check(try await store.download("a/1 +ü", ifMatch: found?.etag).rest().body == bytes, "If-Match")
    try check(
        try await refusal { try await store.download("a/1 +ü", ifMatch: "\"x\"") } == .preconditionFailed, "If-Match")
    try check(try await refusal { try await store.download("none") } == .notFound, "GET of nothing")
    try check(try await store.copy("a/1 +ü", to: "a/2").contains(md5), "copy")
    try check(try await store.head("a/2")?.metadata["store-id"] == "7", "metadata of a copy")
    for number in 3...5 { _ = try await store.put("a/\(number)", bytes) }
    _ = try await store.put("b/1", bytes)
    var keys: [String] = []
    var next: String?
    repeat {
        let page = try await store.list("a/", after: next, limit: 2)
        try check(page.objects.count <= 2 && page.objects.allSatisfy { $0.size == 10 && $0.modifiedAt != nil }, "page")
        keys += page.objects.map(\.key)
        next = page.next
    } while next != nil
    try check(keys == ["a/1 +ü", "a/2", "a/3", "a/4", "a/5"], "list \(keys)")
    try check(try await store.list("", delimiter: "/").prefixes == ["a/", "b/"], "prefixes")
    let many = ["a/1 +ü", "a/2", "none"] + (0..<997).map { "none/\($0)" }
    try check(try await store.delete(many).isEmpty, "deletion of 1,000")
    try await store.delete("a/3")
    try await store.delete("none")
    try check(try await store.list("a/").objects.map(\.key) == ["a/4", "a/5"], "list after deletions")
}

/// Takes a prefix for a gateway with a name.
func take(
    _ name: String, _ configuration: S3EngineConfiguration, _ store: S3Client, takeOver: Bool = false
) async throws -> PrefixOwner {
    let report = try await BucketProbe.run(configuration, store, clock: SystemClock())
    let object = OwnerObject(
        configuration, store, honorsConditions: report.honorsConditions, comparesBareTags: report.comparesBareTags)
    let holder = PrefixHolder(host: name, process: 1, startedAt: SystemClock().now(), id: name)
    return try await PrefixOwner.take(object, as: holder, takeOver: takeOver, clock: SystemClock()) {
        print("\(name): \($0)")
    }
}

func ownPrefix(_ configuration: S3EngineConfiguration, _ store: S3Client) async throws {
    let first = try await take("first", configuration, store)
    for takeOver in [false, true] {
        do {
            _ = try await take("second", configuration, store, takeOver: takeOver)
            throw Wrong(description: "a second gateway has the prefix")
        } catch let conflict as PrefixConflict {
            print("second: \(conflict)")
        }
    }
    // The owner recognizes fewer renewals as its own, so each of these has to be stored.
    for _ in 0..<20 { try check(await first.confirm(), "renewal") }
    try check(await first.release(), "release")
    let third = try await take("third", configuration, store)
    _ = try await store.put(configuration.prefix + "owner", Array("{}".utf8))
    try check(await third.confirm() == false, "renewal of another's object")
    try check(third.ownership == .lost(to: nil), "loss")
    try await store.delete(configuration.prefix + "owner")
}

/// Starts gateways at once on a free prefix, each over connections of its own: one of them has the prefix afterwards.
func race(
    _ configuration: S3EngineConfiguration, _ source: any CredentialSource, honorsConditions: Bool,
    comparesBareTags: Bool
) async throws {
    let owners = try await withThrowingTaskGroup(of: PrefixOwner?.self) { group in
        for number in 0..<8 {
            group.addTask {
                let store = configuration.controlClient(source, clock: SystemClock())
                let object = OwnerObject(
                    configuration, store, honorsConditions: honorsConditions, comparesBareTags: comparesBareTags)
                let holder = PrefixHolder(
                    host: "host \(number)", process: 1, startedAt: SystemClock().now(), id: "\(number)")
                do {
                    return try await PrefixOwner.take(object, as: holder, clock: SystemClock()) { _ in }
                } catch is PrefixConflict {
                    return nil
                }
            }
        }
        return try await group.reduce(into: [PrefixOwner]()) { if let owner = $1 { $0.append(owner) } }
    }
    if honorsConditions { try check(owners.count == 1, "\(owners.count) gateways have the prefix") }
    var confirmed: [PrefixOwner] = []
    for owner in owners where await owner.confirm() { confirmed.append(owner) }
    try check(confirmed.count == 1, "\(confirmed.count) of \(owners.count) gateways keep the prefix")
    try check(await confirmed[0].release(), "release")
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
    fatalError("engine-transfer put|get|calls|probe|prefix ENDPOINT BUCKET [KEY SIZE]")
}
let environment = ProcessInfo.processInfo.environment
let source = RenewedCredentials(EnvironmentCredentials { environment[$0] }, clock: SystemClock())
let bucket = S3Bucket(endpoint: try StoreEndpoint(arguments[2]), region: "us-east-1", name: arguments[3])
let store = S3Client(bucket, credentials: source, over: HTTPConnection(), clock: SystemClock())
let configuration = S3EngineConfiguration(bucket, prefix: "gateway/")
do {
    switch arguments[1] {
    case "probe":
        let report = try await BucketProbe.run(configuration, store, clock: SystemClock())
        print(report.findings.map(\.description).joined(separator: "\n"))
        exit(0)
    case "prefix":
        try await ownPrefix(configuration, store)
        let isBare = try await BucketProbe.run(configuration, store, clock: SystemClock()).comparesBareTags
        for number in 0..<20 {
            try await race(
                configuration, source, honorsConditions: number < 10, comparesBareTags: isBare)
        }
        exit(0)
    default: break
    }
    guard arguments.count == 6, let size = Int64(arguments[5]) else {
        try await makeCalls(store)
        exit(0)
    }
    // The process is idle after its first exchange.
    _ = try? await S3Client(bucket, credentials: source, over: HTTPConnection(), clock: SystemClock()).head("none")
    let idle = memory()
    var peak = idle
    let began = ContinuousClock.now
    let transfer = arguments[1] == "put" ? put : get
    try await transfer(arguments[4], Pattern(size: size), store) { peak = max(peak, memory()) }
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    print("{\"idle\": \(idle), \"peak\": \(peak), \"seconds\": \(seconds)}")
} catch {
    print(error)
    exit(1)
}
