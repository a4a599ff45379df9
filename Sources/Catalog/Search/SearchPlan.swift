import Database
import ObjectFilters

/// The plan of a search: the streams of positions that contain all possible matches.
///
/// A stream may contain more than the matches, since each row is compared with the whole filter. Terms without an index are
/// therefore ignored here and only cost rows that are read.
struct SearchPlan {
    /// The candidates for matches of an expression.
    private enum Candidates {
        case within(PositionBounds)
        /// - `isScoped`: whether all of them belong to the organization, apart from rare exceptions.
        case stream(any PositionStream, isScoped: Bool)

        static var everything: Candidates { .within(.all) }
        static var nothing: Candidates { .within(.none) }
    }

    /// The largest number of values of a column, each of which has a stream.
    private static let mostStreams = 64
    /// The number of objects of a folder up to which each is a candidate by itself.
    private static let mostOfAFolder = 20_000
    /// The end of the year 9999, in microseconds.
    private static let lastTime: Int64 = 253_402_300_800_000_000

    private let connection: ReadConnection
    private let budget: SearchBudget
    /// The organization; `nil` = all.
    private let scope: Int64?
    /// Whether objects in the trash can match. They have no rows of prefixes.
    private let includesTrash: Bool

    private init(connection: ReadConnection, scope: Int64?, includesTrash: Bool, budget: SearchBudget) {
        self.connection = connection
        self.includesTrash = includesTrash
        self.scope = scope
        self.budget = budget
    }

    static func stream(
        of filter: ResolvedFilter, scope: Int64?, in connection: ReadConnection, budget: SearchBudget
    ) throws -> any PositionStream {
        let plan = SearchPlan(
            connection: connection, scope: scope, includesTrash: !filter.excludesTrash, budget: budget)
        switch try plan.candidates(filter.root, isNegated: false) {
        case .within(let bounds): return plan.objects(within: bounds)
        case .stream(let stream, let isScoped):
            if try isScoped || plan.hasMostObjects() { return stream }
            return IntersectionStream([stream, plan.objects(within: .all)], budget: budget)
        }
    }

    /// Whether most objects belong to the scope, so that reading other organizations' rows costs less than avoiding them.
    private func hasMostObjects() throws -> Bool {
        guard let scope else { return true }
        let counts = try connection.query(
            """
            SELECT organization_id, objects FROM object_facets
            WHERE organization_id IN (SELECT id FROM organizations) AND kind = \(FacetKind.all.rawValue)
            """
        ) { (organization: $0.int64("organization_id"), objects: $0.int64("objects")) }
        let own = counts.reduce(0) { $0 + ($1.organization == scope ? $1.objects : 0) }
        return 2 * own >= counts.reduce(0) { $0 + $1.objects }
    }

    private func candidates(_ expression: ResolvedFilter.Expression, isNegated: Bool) throws -> Candidates {
        switch expression {
        case .term(let term): isNegated ? try rest(of: term) : try candidates(term)
        case .not(let child): try candidates(child, isNegated: !isNegated)
        case .all(let children):
            // NOT (a AND b) = NOT a OR NOT b.
            isNegated
                ? try union(children.map { try candidates($0, isNegated: true) })
                : intersection(try children.map { try candidates($0, isNegated: false) } + folder(of: children))
        case .any(let children):
            isNegated
                ? intersection(try children.map { try candidates($0, isNegated: true) })
                : try union(children.map { try candidates($0, isNegated: false) })
        }
    }

    private func intersection(_ children: [Candidates]) -> Candidates {
        var bounds = PositionBounds.all
        var streams: [any PositionStream] = []
        var isScoped = false
        for child in children {
            switch child {
            case .within(let limits): bounds = bounds.intersection(limits)
            case .stream(let stream, let isOwn):
                streams.append(stream)
                isScoped = isScoped || isOwn
            }
        }
        guard !streams.isEmpty else { return .within(bounds) }
        let stream = streams.count == 1 ? streams[0] : IntersectionStream(streams, budget: budget)
        return .stream(bounds == .all ? stream : BoundedStream(stream, bounds), isScoped: isScoped)
    }

    private func union(_ children: [Candidates]) -> Candidates {
        var bounds = PositionBounds.none
        var streams: [any PositionStream] = []
        var isScoped = true
        for child in children {
            switch child {
            case .within(let limits): bounds = bounds.hull(limits)
            case .stream(let stream, let isOwn):
                streams.append(stream)
                isScoped = isScoped && isOwn
            }
        }
        if streams.isEmpty || bounds == .all { return .within(bounds) }
        if bounds != .none { streams.append(objects(within: bounds)) }
        return .stream(streams.count == 1 ? streams[0] : UnionStream(streams), isScoped: isScoped)
    }

    private func candidates(_ term: ResolvedFilter.Term) throws -> Candidates {
        switch term {
        case .objectID(let id): .stream(index("objects", ["id = $1"], id), isScoped: true)
        case .tag(let key, let value):
            .stream(index("object_tags", ["key = $1", "value = $2"], key, value), isScoped: false)
        case .device(.text("")): .everything
        case .device(.text(let id)): .stream(index("objects", ["device_id = $1"], id), isScoped: true)
        case .site(let id): .stream(index("objects", ["site_id = $1"], id), isScoped: true)
        case .device(let pattern):
            try SearchPrefix.stored(for: pattern).map { try prefixes([.label], $0) } ?? .everything
        case .devices(let ids): one(of: ids.sorted(), "device_id")
        case .sites(let ids): one(of: ids.sorted(), "site_id")
        case .name(let pattern): try names(pattern)
        case .word(let word):
            union([
                try names(with: NameKey.keys(ofWord: word)) { NameParts.name($0, has: word) },
                try prefixes([.label], SearchPrefix.stored(forPrefix: word)),
            ])
        case .begins(let text): try prefixes([.name, .label], SearchPrefix.stored(forPrefix: text))
        case .contentType(let pattern):
            try SearchPrefix.stored(forContentType: pattern).map { try prefixes([.contentType], $0) } ?? .everything
        case .created(let interval): .within(try positions(createdIn: interval))
        case .recorded(let interval): try recorded(in: interval)
        case .topic(.text(let topic)): .stream(index("object_topics", ["topic = $1"], topic), isScoped: false)
        // All objects with topics, each of which is compared.
        case .topic: .stream(index("object_topics", []), isScoped: false)
        case .trashed(true): .stream(try trash(), isScoped: true)
        case .isVerified, .path, .folder, .size, .recordedFrom, .recordedTo, .trashed(false): .everything
        }
    }

    /// Returns the objects of the folder that terms name together with its owner, unless these are too many to read all positions.
    private func folder(of terms: [ResolvedFilter.Expression]) throws -> [Candidates] {
        guard let scope, let path = ResolvedFilter(.all(terms)).folder, let owner = Self.owner(in: terms) else {
            return []
        }
        let folder = UploadedFolder(organizationID: scope, owner: owner, path: path)
        guard let positions = try FolderRecords(connection).positions(of: folder, limit: Self.mostOfAFolder) else {
            return []
        }
        return [.stream(PositionList(positions), isScoped: true)]
    }

    private static func owner(in terms: [ResolvedFilter.Expression]) -> UploadedFolder.Owner? {
        var (device, site): (String?, Int64?)
        for case .term(let term) in terms {
            switch term {
            case .device(.text(let id)): device = id
            case .site(let id): site = id
            default: break
            }
        }
        return device == "" ? site.map(UploadedFolder.Owner.site) : device.map(UploadedFolder.Owner.device)
    }

    private func prefixes(_ kinds: [SearchPrefix.Kind], _ prefix: String) throws -> Candidates {
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        var streams: [any PositionStream] = organizations.flatMap { organization in
            kinds.map {
                index(
                    "object_prefixes", ["organization_id = $1", "kind = $2", "prefix = $3"], organization, $0.rawValue,
                    prefix)
            }
        }
        // Objects of an earlier version that have no rows yet.
        if let upgraded = try SearchRecords(connection).upgraded() {
            streams.append(objects(within: PositionBounds(lowest: 0, highest: upgraded - 1)))
        }
        if includesTrash { streams.append(try trash()) }
        return .stream(streams.count == 1 ? streams[0] : UnionStream(streams), isScoped: true)
    }

    private func names(_ pattern: ObjectFilter.Pattern) throws -> Candidates {
        switch pattern {
        case .text, .prefix: break
        case .part(let part), .suffix(let part):
            return try names(with: NameKey.keys(ofPart: part), isMatch: pattern.matches)
        case .pieces(let pieces):
            let keys = NameKey.keys(ofParts: pieces)
            if !keys.isEmpty { return try names(with: keys, isMatch: pattern.matches) }
        }
        return try SearchPrefix.stored(for: pattern).map { try prefixes([.name], $0) } ?? .everything
    }

    /// Returns the objects that have one of some values in a column, unless these are too many to look for each.
    private func one(of values: [any Bindable], _ column: String) -> Candidates {
        guard values.count <= Self.mostStreams else { return .everything }
        let streams = values.map { index("objects", ["\(column) = $1"], $0) }
        return .stream(streams.count == 1 ? streams[0] : UnionStream(streams), isScoped: true)
    }

    /// Returns the objects whose names are searched for, which have all keys; a single key decides nearly alone.
    private func names(with keys: Set<NameKey>, isMatch: @escaping (String) -> Bool) throws -> Candidates {
        guard case .stream(let stream, let isScoped) = try names(with: keys), keys.count > 1 else {
            return try names(with: keys)
        }
        return .stream(
            NameStream(stream, connection: connection, budget: budget, isMatch: isMatch), isScoped: isScoped)
    }

    /// Returns the objects whose names have all keys, and those whose names are not in the index.
    private func names(with keys: Set<NameKey>) throws -> Candidates {
        let range = try NameIndexRecords(connection).range()
        guard !keys.isEmpty, !range.isEmpty else { return .everything }
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        let segments = organizations.map {
            SegmentStream(keys, organizationID: $0, range: range, connection: connection, budget: budget)
        }
        let newer = objects(within: PositionBounds(lowest: range.upperBound, highest: PositionBounds.all.highest))
        var streams: [any PositionStream] = [newer, segments.count == 1 ? segments[0] : UnionStream(segments)]
        if range.lowerBound > 0 {
            streams.append(objects(within: PositionBounds(lowest: .min, highest: range.lowerBound - 1)))
        }
        return .stream(RangesStream(streams), isScoped: true)
    }

    private func trash() throws -> any PositionStream {
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        return UnionStream(organizations.map(trash))
    }

    private func recorded(in interval: ObjectFilter.Interval) throws -> Candidates {
        let (lowest, highest) = (interval.lower ?? .min, interval.upper ?? .max)
        guard lowest < highest else { return .nothing }
        let organizations = try scope.map { [$0] } ?? SearchRecords(connection).organizations()
        return try union(
            organizations.map { organization in
                let records = RecordingTimeRecords(connection)
                switch try records.positions(in: lowest..<highest, organizationID: organization) {
                case .each(let positions): return .stream(PositionList(positions), isScoped: true)
                case .within(let bounds): return .within(bounds)
                }
            })
    }

    private func positions(createdIn interval: ObjectFilter.Interval) throws -> PositionBounds {
        // Times before 1970 and after the year 9999 do not restrict the search.
        let (lowest, highest) = (max(interval.lower ?? 0, 0), min(interval.upper ?? Self.lastTime, Self.lastTime))
        guard lowest < highest else { return .none }
        return try SearchRecords(connection).positions(createdIn: lowest..<highest, scope: scope)
    }

    /// Returns the candidates that a term does not match.
    private func rest(of term: ResolvedFilter.Term) throws -> Candidates {
        switch term {
        case .isVerified: .nothing
        case .trashed(false): .stream(try trash(), isScoped: true)
        default: .everything
        }
    }

    private func objects(within bounds: PositionBounds) -> any PositionStream {
        let stream = objectsOfScope()
        return bounds == .all ? stream : BoundedStream(stream, bounds)
    }

    private func objectsOfScope() -> any PositionStream {
        // Over all organizations, objects in the trash are skipped in the index, because they could fill a page that would then be
        // empty.
        guard let scope else { return index("objects", includesTrash ? [] : ["trashed_at IS NULL"]) }
        let live = index("objects", ["organization_id = $1", "trashed_at IS NULL"], scope)
        return includesTrash ? UnionStream([live, trash(of: scope)]) : live
    }

    private func trash(of organization: Int64) -> IndexStream {
        index("objects", ["organization_id = $1", "trashed_at IS NOT NULL"], organization)
    }

    private func index(_ table: String, _ conditions: [String], _ arguments: any Bindable...) -> IndexStream {
        IndexStream(table, where: conditions, arguments, connection: connection, budget: budget)
    }
}
