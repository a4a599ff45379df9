import Accounts
import Basics
import Database
import DatabaseTesting
import GatewayTesting
import ObjectFilters
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct NameIndexTests {
    private static let parts = [
        "run", "07", "Drive", "camera", "front", "été", "名前", "İ", "2026", "11", "26T04", "x", "_", "-", ".", " ",
        "mcap",
    ]

    // MARK: The index itself

    @Test(arguments: [0, 1, 2, 100, 2047, 5000, 20_000, 32_768])
    func positionsAreReadBackAsWritten(_ count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let all = (0..<UInt16(32_768)).shuffled(using: &random)
        let (left, right) = (all.prefix(count).sorted(), all.suffix(300).sorted())
        let stored = SegmentPositions.encode(left)
        #expect(SegmentPositions.decode(stored) == left)
        #expect(stored.count <= 4096 && stored.count <= 3 * count)
        let (leftSet, rightSet) = (Set(left), Set(right))
        #expect(SegmentPositions.intersection(right, stored) == leftSet.intersection(rightSet).sorted())
        #expect(
            SegmentPositions.intersection(left, SegmentPositions.encode(right))
                == leftSet.intersection(rightSet).sorted())
        #expect(SegmentPositions.union(left, right) == leftSet.union(rightSet).sorted())
        #expect(SegmentPositions.union(right, left) == leftSet.union(rightSet).sorted())
    }

    /// Bytes that no version wrote give offsets of the segment, and no trap.
    @Test func damagedPositionsAreOffsetsOfTheSegment() {
        var random = SeededGenerator(seed: 7)
        for length in [1, 2, 3, 50, 4095, 4096, 5000] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(SegmentPositions.decode(bytes).allSatisfy { $0 < 32_768 })
            #expect(SegmentPositions.intersection([0, 32_767], bytes).count <= 2)
        }
    }

    @Test func namesHaveTheKeysOfWhatFindsThem() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            let name = Self.name(&random).lowercasedByScalar
            var keys: Set<NameKey> = []
            NameKey.forEach(in: name) { keys.insert($0) }
            #expect(keys.allSatisfy { (2...3).contains($0.text.unicodeScalars.count) && $0.text.utf8.count <= 12 })
            let part = Self.part(of: name, &random)
            #expect(NameKey.keys(ofPart: part).isSubset(of: keys), "\(part) in \(name)")
            #expect(NameKey.keys(ofPart: part).isEmpty == (part.unicodeScalars.count < 3))
            for word in [part, Self.part(of: name, &random)] where NameParts.name(name, has: word) {
                #expect(NameKey.keys(ofWord: word).isSubset(of: keys), "\(word) in \(name)")
                #expect(!NameKey.keys(ofWord: word).isEmpty)
            }
        }
        #expect(NameKey.keys(ofPart: String(repeating: "abcdefghijk", count: 20)).count <= 16)
    }

    @Test(arguments: [
        ("run07_front.mcap", ["r", "ru", "07", "0", "f", "fr", "m", "_", "_f", ".m"], ["u", "n0", "7", "ro", "ap"]),
        ("名前のファイル", ["名", "前", "名前"], ["ァ"]), ("a b", [" ", " b", "b"], ["ab"]), ("x1", ["1", "x1"], ["y"]),
    ])
    func shortWordsAreFoundAtBorders(_ name: String, _ found: [String], _ missing: [String]) {
        for word in found { #expect(NameParts.name(name, has: word), "\(word)") }
        for word in missing { #expect(!NameParts.name(name, has: word), "\(word)") }
    }

    // MARK: Searches

    /// Objects whose names are made of a few parts, in five segments, by two organizations; their sizes are their numbers.
    private struct World {
        let scene: CatalogScene
        private(set) var names: [Int64: String] = [:]
        private(set) var removed: Set<Int64> = []
        private var random = SeededGenerator(seed: 3)

        init(visits: Int) throws {
            scene = try CatalogScene(visits: visits)
        }

        mutating func add(_ count: Int) throws {
            for _ in 0..<count {
                let size = Int64(names.count + 1)
                let name = NameIndexTests.name(&random)
                names[size] = name
                try scene.add(name: name, size: size, organization: size % 7 == 0 ? 2 : 1)
            }
            // A gap, in which objects were deleted.
            try scene.setNextPosition(try scene.end + 30_000)
        }

        /// Deletes some objects, and moves others to the trash.
        mutating func remove() throws {
            removed = Set(names.keys.filter { $0 % 10 == 3 || $0 % 10 == 4 })
            try scene.database.writeBlocking { connection in
                try connection.execute("DELETE FROM objects WHERE size % 10 = 3")
                try connection.execute("UPDATE objects SET trashed_at = 1 WHERE size % 10 = 4")
            }
        }

        func expected(_ isMatch: (String) -> Bool) -> [Int64] {
            names.filter { $0.key % 7 != 0 && !removed.contains($0.key) && isMatch($0.value.lowercasedByScalar) }
                .keys.sorted(by: >)
        }
    }

    /// Also while names are in no segment, in some, and in all of them.
    @Test(arguments: [1, 10, 2000])
    func wordsFindWhatAPlainSearchFinds(_ visits: Int) async throws {
        var world = try World(visits: visits)
        var indexer = NameIndexer(database: world.scene.database, log: .discarding)
        indexer.sleep = { _ in }
        var random = SeededGenerator(seed: UInt64(visits))
        for stage in 0..<4 {
            switch stage {
            case 0: for _ in 0..<3 { try world.add(60) }
            case 1:
                // As after an upgrade: none of the names is in a segment, and there are new ones.
                try world.scene.setRange(try world.scene.end..<world.scene.end)
                for _ in 0..<2 { try world.add(100) }
                #expect(try await indexer.indexBatch())
                #expect(try world.scene.range.lowerBound > 0)
            case 2:
                #expect(try await indexer.indexBatch())
                #expect(try world.scene.range.lowerBound == 0)
                try world.remove()
            default: try world.add(40)
            }
            for _ in 0..<12 {
                let name = world.names.values.randomElement(using: &random) ?? ""
                let text = random.next() % 4 == 0 ? Self.name(&random) : Self.part(of: name, &random)
                let word = text.lowercasedByScalar
                let written = "\"\(random.next() % 2 == 0 ? text : text.uppercased())\""
                let isUpper = written != "\"\(text)\""
                let wanted = isUpper ? text.uppercased().lowercasedByScalar : word
                let size: Int32 = random.next() % 2 == 0 ? 7 : 1000
                // All names begin with a letter or a digit, and no tag or device does.
                #expect(
                    try await world.scene.walk(written, size: size)
                        == world.expected { NameParts.name($0, has: wanted) }, "\(written) at stage \(stage)")
                guard wanted.unicodeScalars.count > 2 else { continue }
                #expect(
                    try await world.scene.walk(written, size: size) == world.expected { Self.contains($0, wanted) },
                    "\(written) at stage \(stage)")
                let part = "name:\"*\(written.dropFirst().dropLast())*\""
                #expect(try await world.scene.walk(part, size: size) == world.expected { Self.contains($0, wanted) })
                let end = "size>20 name:\"*\(written.dropFirst().dropLast())\""
                #expect(
                    try await world.scene.walk(end, size: size)
                        == world.expected { $0.utf8.reversed().starts(with: wanted.utf8.reversed()) }
                        .filter { $0 > 20 })
                let both = try await world.scene.walk("\(written) OR run", size: size)
                #expect(both == world.expected { Self.contains($0, wanted) || Self.contains($0, "run") })
                let neither = try await world.scene.walk("run NOT \(written)", size: size)
                #expect(neither == world.expected { Self.contains($0, "run") && !Self.contains($0, wanted) })
            }
        }
        // Everything is found in the trash, and in all organizations.
        let system = world.scene.user(1, isSystem: true)
        let all = try await world.scene.sizes("run", size: 1000, as: system)
        #expect(all.contains { $0 % 7 == 0 } || visits < 2000)
        let trashed = try await world.scene.walk("trashed=true run", size: 1000)
        #expect(
            trashed
                == world.names.filter { $0.key % 10 == 4 && $0.key % 7 != 0 && world.removed.contains($0.key) }
                .filter { Self.contains($0.value.lowercasedByScalar, "run") }.keys.sorted(by: >))
    }

    /// The first and the last object of a segment are found, also by pages that end there.
    @Test(arguments: [1, 2000]) func objectsAtBoundariesOfSegmentsAreFound(_ visits: Int) async throws {
        let scene = try CatalogScene(visits: visits)
        let positions: [Int64] = [1, 2, 32_766, 32_767, 32_768, 32_769, 65_535, 65_536, 131_071, 131_072]
        for position in positions {
            try scene.setNextPosition(position)
            try scene.add(name: "camera-drive-\(position).mcap", size: position)
        }
        var indexer = NameIndexer(database: scene.database, log: .discarding)
        indexer.sleep = { _ in }
        #expect(try await indexer.indexBatch())
        #expect(Set(try scene.trigrams().map(\.segment)) == [0, 1, 2, 3, 4])
        for word in ["drive", "era-dri", "name:*drive*", "name:camera*drive*", "dr"] {
            for size: Int32 in [1, 3, 1000] {
                #expect(try await scene.walk(word, size: size) == positions.reversed(), "\(word) \(size)")
            }
        }
        for position in positions {
            #expect(try await scene.walk("drive-\(position).", size: 10) == [position])
        }
    }

    /// Names that have all keys of a word in other places are compared without their rows, so that they do not use up a page.
    @Test func firstPageIsBehindNamesThatHaveAllKeys() async throws {
        let scene = try CatalogScene(visits: 500)
        try scene.add(name: "a-drive.mcap", size: 1)
        for number in 2...1500 { try scene.add(name: "dri-riv-ive-\(number).mcap", size: Int64(number)) }
        var indexer = NameIndexer(database: scene.database, log: .discarding)
        indexer.sleep = { _ in }
        #expect(try await indexer.indexBatch())
        for filter in ["drive", "name:*drive*", "name:*drive*.mcap", "size>0 drive"] {
            #expect(try await scene.sizes(filter, size: 10) == [1], "\(filter)")
        }
    }

    @Test func displayNamesAreReadAgainOnlyAfterAChange() async throws {
        let directory = CountingDirectory()
        let scene = try CatalogScene(devices: directory)
        try scene.add(size: 5, device: OneDevice.id)
        for word in ["picker", "041", "nothing"] {
            #expect(try await scene.sizes(word, size: 10) == (word == "nothing" ? [] : [5]))
        }
        #expect(directory.reads.withLock { $0 } == [1])
        directory.version.withLock { $0 = ("Mover", 2) }
        #expect(try await scene.sizes("picker", size: 10) == [])
        #expect(try await scene.sizes("mover", size: 10) == [5])
        // Each organization has its own.
        #expect(try await scene.sizes("mover", size: 10, as: scene.user(2)) == [])
        #expect(try await scene.sizes("mover", size: 10, as: scene.user(2)) == [])
        #expect(directory.reads.withLock { $0 } == [1, 1, 2])
    }

    private static func contains(_ name: String, _ part: String) -> Bool {
        let (name, part) = (Array(name.utf8), Array(part.utf8))
        return part.count <= name.count
            && (0...(name.count - part.count)).contains { name[$0...].starts(with: part) }
    }

    private static func name(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...8, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }

    private static func part(of name: String, _ random: inout SeededGenerator) -> String {
        let scalars = Array(name.unicodeScalars)
        let start = Int.random(in: 0..<scalars.count, using: &random)
        let length = [1, 2, 3, 4, 8].randomElement(using: &random) ?? 1
        return String(String.UnicodeScalarView(scalars[start..<min(start + length, scalars.count)]))
    }

    // MARK: Writing

    private func scene(names: Int) throws -> (CatalogScene, NameIndexer) {
        let scene = try CatalogScene()
        for number in 1...names { try scene.add(name: "run-\(number).mcap", size: Int64(number)) }
        var indexer = NameIndexer(database: scene.database, log: .discarding)
        indexer.sleep = { _ in }
        return (scene, indexer)
    }

    @Test func fewNewNamesWait() async throws {
        let (scene, indexer) = try scene(names: 254)
        #expect(try await indexer.indexBatch() == false)
        #expect(try scene.trigrams().isEmpty)
        try scene.add(name: "last", size: 255)
        #expect(try await indexer.indexBatch())
        #expect(try scene.range == 0..<256)
        #expect(try await indexer.indexBatch() == false)
        #expect(try await scene.walk("last", size: 10) == [255])
    }

    @Test func repeatedBatchChangesNothing() async throws {
        let (scene, indexer) = try scene(names: 300)
        #expect(try await indexer.indexBatch())
        let complete = try scene.trigrams()
        try scene.setRange(0..<0)
        #expect(try await indexer.indexBatch())
        #expect(try scene.trigrams() == complete)
        // The same from the other end, as after an upgrade.
        try scene.setRange(301..<301)
        #expect(try await indexer.indexBatch())
        #expect(try scene.trigrams() == complete && scene.range == 0..<301)
    }

    /// A batch has 4,096 names.
    @Test func longerListsTakeSeveralBatches() async throws {
        let (scene, indexer) = try scene(names: 5000)
        #expect(try await indexer.indexBatch())
        #expect(try scene.range == 0..<4097)
        #expect(try await indexer.indexBatch())
        #expect(try scene.range == 0..<5001)
        #expect(try await scene.walk("n-4999", size: 10) == [4999])
    }

    @Test func writesPauseBetweenTransactions() async throws {
        let (scene, base) = try scene(names: 300)
        var indexer = base
        defer { withExtendedLifetime(scene) {} }
        let pauses = Lock(0)
        indexer.sleep = { _ in pauses.withLock { $0 += 1 } }
        #expect(try await indexer.indexBatch())
        #expect(pauses.withLock { $0 } >= 2)
    }

    @Test func segmentsWithoutObjectsAreRemoved() async throws {
        let (scene, indexer) = try scene(names: 300)
        try scene.setNextPosition(40_001)
        for number in 301...600 { try scene.add(name: "walk-\(number).mcap", size: Int64(number)) }
        while try await indexer.indexBatch() {}
        func remove() async throws {
            var segment = NameSegment.start
            repeat { segment = try await indexer.removeSegment(after: segment) } while segment != .start
        }
        try await remove()
        #expect(Set(try scene.trigrams().map(\.segment)) == [0, 1])
        try scene.database.writeBlocking { connection in
            try connection.execute("DELETE FROM objects WHERE size < 300")
            try connection.execute("UPDATE objects SET trashed_at = 1 WHERE size = 300")
        }
        try await remove()
        #expect(Set(try scene.trigrams().map(\.segment)) == [0, 1])
        _ = try await scene.database.write { try $0.execute("DELETE FROM objects WHERE size > 299") }
        try await remove()
        // Positions may still be added to the last one.
        #expect(Set(try scene.trigrams().map(\.segment)) == [1])
    }
}

/// A random generator whose numbers are those of its seed.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension CatalogScene {
    fileprivate func add(name: String, size: Int64, organization: Int64 = 1) throws {
        var object = newObject(size: size, organization: organization)
        object.description = CatalogObject.Description(
            name: FileName(verbatim: name), contentType: ContentType.unknown, crc64: nil)
        try database.writeBlocking { [object] in try ObjectRecords($0).insert(object, tags: [:]) }
    }

    /// Lets the next object have a position that is higher than the last one.
    fileprivate func setNextPosition(_ position: Int64) throws {
        let sql = DatabaseEngine.choose(
            sqlite:
                "INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq) SELECT (SELECT rowid FROM sqlite_sequence WHERE name = 'objects'), 'objects', \(position - 1)",
            postgres: "SELECT setval(pg_get_serial_sequence('objects', 'position'), \(position), false)")
        try database.writeBlocking { _ = try $0.execute(sql) }
    }

    fileprivate var range: Range<Int64> {
        get throws { try database.readBlocking { try NameIndexRecords($0).range() } }
    }

    fileprivate var end: Int64 {
        get throws { try database.readBlocking { try ObjectOperationRecords($0).endOfObjects() } }
    }

    fileprivate func setRange(_ range: Range<Int64>) throws {
        try database.writeBlocking { try NameIndexRecords($0).setRange(range) }
    }

    fileprivate func trigrams() throws -> [TrigramRow] {
        try database.readBlocking { connection in
            try connection.query(
                "SELECT segment, trigram, positions FROM object_trigrams ORDER BY organization_id, segment, trigram"
            ) { TrigramRow(segment: $0.int64(0), trigram: $0.text(1), positions: $0.blob(2)) }
        }
    }
}

/// A directory with one device, whose name the test changes; it counts how often names are read.
private final class CountingDirectory: DeviceDirectory {
    let version = Lock<(name: String, number: Int64)>(("Picker 041", 1))
    /// The organizations whose names were read.
    let reads = Lock<[Int64]>([])
    private let base = OneDevice()

    func device(_ id: String, organizationID: Int64, in connection: ReadConnection) throws -> DirectoryDevice? {
        try base.device(id, organizationID: organizationID, in: connection)
    }

    func displayNames(organizationID: Int64, in connection: ReadConnection) throws -> DisplayNames {
        reads.withLock { $0.append(organizationID) }
        guard organizationID == 1 else { return DisplayNames(devices: [], sites: []) }
        return DisplayNames(devices: [(id: OneDevice.id, name: version.withLock { $0.name })], sites: [])
    }

    func displayNameVersion(organizationID: Int64, in connection: ReadConnection) throws -> Int64 {
        version.withLock { $0.number }
    }

    func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> { [] }

    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {}
}

private struct TrigramRow: Equatable {
    let segment: Int64
    let trigram: String
    let positions: [UInt8]
}
