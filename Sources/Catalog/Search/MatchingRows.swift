import Basics
import Database
import ObjectFilters

/// Reads the objects at given positions, and compares them with a filter.
struct MatchingRows {
    /// The columns of the rows that are decoded.
    enum Columns {
        /// The columns of `CatalogObject`.
        case object
        /// The columns of ``FacetCounts/Subject``, and those that the filter compares.
        case facets
    }

    /// The numbers of rows in one statement; shorter lists are padded with their last position.
    private static let lengths = [1, 8, 32, 128]
    private static let lists = Dictionary(
        uniqueKeysWithValues: lengths.map { ($0, ParameterList.text($0)) })

    private let connection: ReadConnection
    private let filter: ResolvedFilter
    private let texts: FilterTexts
    private let scope: Int64?
    private let budget: SearchBudget?
    private let corrupted: String
    private let columns: String
    /// Whether tags are compared as far as they are in one text in the object's row.
    private let readsTagTexts: Bool

    /// - Parameters:
    ///   - includesCorrupted: whether corrupted objects, which lists omit, can match.
    init(
        _ filter: ResolvedFilter, scope: Int64?, in connection: ReadConnection, budget: SearchBudget? = nil,
        includesCorrupted: Bool = false, columns: Columns = .object
    ) {
        texts = FilterTexts(filter)
        readsTagTexts = filter.readsTags && !texts.hasTopics
        self.columns =
            switch columns {
            case .object: CatalogObject.columns + (readsTagTexts ? ", o.tag_texts" : "")
            case .facets: FilterSubject.columns(of: texts) + ", o.device_id, o.tag_texts"
            }
        corrupted = includesCorrupted ? "" : "AND (o.bad_at IS NULL OR o.trashed_at IS NOT NULL)"
        self.connection = connection
        self.filter = filter
        self.scope = scope
        self.budget = budget
    }

    /// - Parameter positions: in descending order.
    func matches<Value>(
        at positions: [Int64], row decode: (Row) throws -> Value
    ) throws -> [ObjectSearch.Match<Value>] {
        var matches: [ObjectSearch.Match<Value>] = []
        try forEachMatch(at: positions, row: decode) { matches.append($0) }
        return matches
    }

    /// - Parameter positions: in descending order.
    func forEachMatch<Value>(
        at positions: [Int64], row decode: (Row) throws -> Value, _ body: (ObjectSearch.Match<Value>) -> Void
    ) throws {
        var start = 0
        while start < positions.count {
            let end = min(start + (Self.lengths.last ?? 1), positions.count)
            try chunk(Array(positions[start..<end]), decode, body)
            start = end
        }
    }

    private func chunk<Value>(
        _ positions: [Int64], _ decode: (Row) throws -> Value, _ body: (ObjectSearch.Match<Value>) -> Void
    ) throws {
        let (list, arguments) = Self.list(positions)
        // Corrupted objects are few, so no index omits them and they are filtered here. Those in the trash match, so that the whole
        // trash can be listed.
        let rows = try connection.query(
            """
            SELECT \(columns) FROM objects o WHERE o.position IN (\(list)) \(corrupted)
            ORDER BY o.position DESC
            """, arguments: arguments
        ) { row -> Candidate<Value>? in
            if let scope, row.int64("organization_id") != scope { return nil }
            let subject = FilterSubject(row, of: texts)
            let result = result(of: subject, row)
            guard result != false else { return nil }
            let match = ObjectSearch.Match(position: row.int64("position"), value: try decode(row))
            return Candidate(
                match: match, undecided: result == nil ? subject : nil, tagBytes: ObjectRow.tagBytes(row))
        }.compactMap(\.self)
        guard rows.contains(where: { $0.undecided != nil }) else {
            for row in rows { body(row.match) }
            return
        }
        var start = 0
        while start < rows.count {
            let group = Self.group(of: rows[start...])
            for row in try decided(group) { body(row.match) }
            start = group.endIndex
        }
    }

    /// Returns whether an object matches; `nil` if its tags have to be read for that.
    private func result(of subject: FilterSubject, _ row: Row) -> Bool? {
        if let result = filter.matches(subject, tags: nil) { return result }
        guard readsTagTexts, let text = row.optionalText("tag_texts") else { return nil }
        var tags: [String: String] = [:]
        TagTexts.forEachTag(in: text) {
            let (key, value) = TagTexts.tag($0)
            tags[key] = value
        }
        return filter.matches(subject, tags: tags)
    }

    /// Returns the first candidates whose tags are in memory together.
    private static func group<Value>(of rows: ArraySlice<Candidate<Value>>) -> ArraySlice<Candidate<Value>> {
        var bytes = 0
        let group = rows.prefix { row in
            guard row.undecided != nil else { return true }
            defer { bytes += row.tagBytes ?? PageLimit.bytes }
            return bytes < PageLimit.bytes
        }
        return group
    }

    /// Returns the candidates that match, now that their tags are read.
    private func decided<Value>(_ rows: ArraySlice<Candidate<Value>>) throws -> [Candidate<Value>] {
        let undecided = rows.filter { $0.undecided != nil }.map(\.match.position)
        budget?.spend(tagsOf: undecided.count)
        let tags = try Self.tags(at: undecided, in: connection)
        let topics = texts.hasTopics ? try Self.topics(at: undecided, in: connection) : [:]
        return rows.filter { row in
            guard var subject = row.undecided else { return true }
            let tags = tags[row.match.position] ?? [:]
            subject.topics = topics[row.match.position] ?? []
            subject.name = subject.name ?? Self.name(of: subject, tags)
            return filter.matches(subject, tags: tags) == true
        }
    }

    /// An object that matches, or that may match depending on its tags.
    private struct Candidate<Value> {
        let match: ObjectSearch.Match<Value>
        /// The properties that the filter compares; `nil` = the object matches whatever its tags are.
        let undecided: FilterSubject?
        let tagBytes: Int?
    }

    /// Returns the name, in lower case, of an object of a version that kept no names.
    private static func name(of object: FilterSubject, _ tags: [String: String]) -> String {
        let owner = ObjectOwner(organizationID: 0, siteID: object.siteID, suiteID: nil, deviceID: object.deviceID)
        return ObjectNaming.name(
            hint: nil, tags: tags, owner: owner, createdAt: UnixTime(microseconds: object.createdAt)
        ).text.lowercasedByScalar
    }

    private static func tags(at positions: [Int64], in connection: ReadConnection) throws -> [Int64: [String: String]] {
        var tags: [Int64: [String: String]] = [:]
        try forEachTag(at: positions, in: connection) { position, key, value in
            tags[position, default: [:]][key] = value
        }
        return tags
    }

    private static func topics(at positions: [Int64], in connection: ReadConnection) throws -> [Int64: [String]] {
        var topics: [Int64: [String]] = [:]
        try RecordingRecords(connection).forEachTopic(at: positions) { position, topic in
            topics[position, default: []].append(topic)
        }
        return topics
    }

    /// Calls `body` with the position, key and value of each tag of the objects at the given positions.
    static func forEachTag(
        at positions: [Int64], in connection: ReadConnection, _ body: (Int64, String, String) -> Void
    ) throws {
        var start = 0
        while start < positions.count {
            let end = min(start + (lengths.last ?? 1), positions.count)
            let (list, arguments) = list(Array(positions[start..<end]))
            _ = try connection.query(
                "SELECT position, key, value FROM object_tags WHERE position IN (\(list))", arguments: arguments
            ) { body($0.int64("position"), $0.text("key"), $0.text("value")) }
            start = end
        }
    }

    /// Returns a parameter list and its arguments, padded to one of a few lengths.
    private static func list(_ positions: [Int64]) -> (sql: String, arguments: [(any Bindable)?]) {
        let padded = ParameterList.padded(positions, to: lengths)
        return (lists[padded.count] ?? "", padded)
    }
}
