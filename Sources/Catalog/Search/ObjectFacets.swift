import Accounts
import Basics
import Database
import GatewayAPI
import ObjectFilters
import RPC
import TimeZones

/// The number of matching objects, in total and for each device, site, day and value of a tag.
struct ObjectFacets: Sendable {
    struct Facet: Sendable {
        let kind: FacetKind
        /// The key of the tag; empty for other kinds.
        let key: String
        /// The values with most objects first; days with the latest first.
        var values: [(value: String, objects: Int64)]
        /// The number of all values; `nil` = `values` has all.
        var total: Int64?
        /// Whether there may be further values that were not counted.
        var isLowerBound = false

        init(kind: FacetKind, key: String, values: [(value: String, objects: Int64)]) {
            self.kind = kind
            self.key = key
            self.values = values
        }

        /// - Parameter days: the numbers of objects by day since 1970.
        init(days: [Int64: Int64]) {
            let latest = days.sorted { $0.key > $1.key }
            self.init(
                kind: .recorded, key: "",
                values: latest.map {
                    (value: CivilTime(UnixTime(seconds: $0.key * TimeZoneRules.day)).date(), objects: $0.value)
                })
        }
    }

    struct Result: Sendable {
        var count: Int64 = 0
        /// Whether `count` is exact; if not, there are at least `count` matches, and the facets cover the counted objects.
        var isExact = true
        var facets: [Facet] = []
    }

    /// The limits of values for each facet, and of tags.
    static let mostValues = 20
    /// The number of ids in one question for retired devices.
    private static let deviceChunk = 500
    /// The limits of counted objects, and of rows that are read for them.
    static let mostObjects = 10_000
    private static let mostRows = 12_000

    let database: Database
    let clock: any WallClock
    let devices: any DeviceDirectory
    let names: DisplayNameSearch

    /// - Throws: INVALID_ARGUMENT if the filter is invalid.
    func facets(_ query: FacetQuery, scope: Int64?) async throws -> Result {
        let filter = query.filter.resolved(at: clock.now().seconds)
        return try await database.readInBackground { connection in
            let isUpgraded = try filter == .everything && SearchRecords(connection).upgraded() == nil
            var result =
                isUpgraded
                ? try FacetRecords(connection).all(query, scope: scope)
                : try Self.count(
                    names.resolve(filter.hidingTrash, scope: scope, in: connection), query.filter.zone, scope,
                    in: connection)
            let found = try names(query, scope: scope, in: connection)
            result.facets = try result.facets.filter(query.includes).map {
                try cut($0, query, found, in: connection)
            }
            return result
        }
    }

    /// Returns the devices and sites whose names contain what values are searched for.
    private func names(_ query: FacetQuery, scope: Int64?, in connection: ReadConnection) throws -> Set<String> {
        guard !query.part.isEmpty, query.facet == "device" || query.facet == "site" else { return [] }
        let found = try names.find(query.part, scope: scope, in: connection)
        return query.facet == "device" ? found.devices : Set(found.sites.map(String.init))
    }

    /// Returns a facet without retired devices and without values that are not searched for, cut to the wanted number.
    ///
    /// - Parameter found: the values whose names are searched for.
    private func cut(
        _ facet: Facet, _ query: FacetQuery, _ found: Set<String>, in connection: ReadConnection
    ) throws -> Facet {
        var facet = facet
        if facet.kind == .device {
            let retired = try retired(among: facet.values.map(\.value), in: connection)
            facet.values.removeAll { retired.contains($0.value) }
        }
        if !query.part.isEmpty {
            let part = ObjectFilter.Pattern.part(query.part)
            // The values of sites are numbers that nobody searches for.
            facet.values.removeAll { value, _ in
                !found.contains(value) && (facet.kind == .site || !part.matches(value.lowercasedByScalar))
            }
        }
        if facet.total == nil { facet.total = Int64(facet.values.count) }
        facet.values = Array(facet.values.prefix(query.limit))
        return facet
    }

    private func retired(among ids: [String], in connection: ReadConnection) throws -> Set<String> {
        var retired: Set<String> = []
        for start in stride(from: 0, to: ids.count, by: Self.deviceChunk) {
            let some = Array(ids[start..<min(start + Self.deviceChunk, ids.count)])
            retired.formUnion(try devices.retired(among: some, in: connection))
        }
        return retired
    }

    private static func count(
        _ filter: ResolvedFilter, _ zone: TimeZoneRules, _ scope: Int64?, in connection: ReadConnection
    ) throws -> Result {
        let search = try ObjectSearch(
            filter, scope: scope, in: connection, budget: SearchBudget(mostRows), columns: .facets)
        var counts = FacetCounts()
        // Objects of versions that did not keep their tags in one text.
        var separate: [Int64] = []
        let rest = try search.forEachMatch(below: nil, limit: mostObjects + 1, row: FacetCounts.Subject.init) { match in
            guard counts.objects < mostObjects else { return }
            counts.add(match.value)
            if match.value.tags == nil { separate.append(match.position) }
        }
        try MatchingRows.forEachTag(at: separate, in: connection) { _, key, value in counts.addTag(key, value) }
        return Result(count: Int64(counts.objects), isExact: rest == nil, facets: counts.facets(in: zone))
    }
}

/// Counts objects by their properties.
struct FacetCounts {
    /// The counted properties of an object.
    struct Subject {
        let deviceID: String?
        let siteID: Int64
        /// The recording time in microseconds since 1970.
        let recordedAt: Int64
        /// The tags, see ``TagTexts``; `nil` = they are only in rows of their own.
        let tags: String?

        init(_ row: Row) {
            deviceID = row.optionalText("device_id")
            siteID = row.int64("site_id")
            recordedAt = row.optionalInt64("recorded_from") ?? row.int64("created_at")
            tags = row.optionalText("tag_texts")
        }
    }

    /// The number of counted objects.
    private(set) var objects = 0
    private var devices: [String: Int64] = [:]
    private var sites: [Int64: Int64] = [:]
    /// The numbers of objects by ``QuarterHour``.
    private var quarters: [Int64: Int64] = [:]
    private var tags: [String: [String: Int64]] = [:]
    /// The numbers of objects by tag, as ``TagTexts`` has it: a tag is looked up once, and no text is made for it.
    private var tagTexts: [Substring: Int64] = [:]
    /// The numbers of objects by key of a tag whose value is too long to be counted by.
    private var longTags: [String: Int64] = [:]

    mutating func add(_ object: Subject) {
        objects += 1
        if let device = object.deviceID { devices[device, default: 0] += 1 }
        sites[object.siteID, default: 0] += 1
        quarters[QuarterHour.number(ofMicroseconds: object.recordedAt), default: 0] += 1
        if let tags = object.tags { TagTexts.forEachTag(in: tags) { tagTexts[$0, default: 0] += 1 } }
    }

    mutating func addTag(_ key: String, _ value: String) {
        addTag(key, value, objects: 1)
    }

    private mutating func addTag(_ key: String, _ value: String, objects: Int64) {
        if TagCost.hasFacet(value) {
            tags[key, default: [:]][value, default: 0] += objects
        } else {
            longTags[key, default: 0] += objects
        }
    }

    /// - Parameter zone: the zone of the days.
    func facets(in zone: TimeZoneRules) -> [ObjectFacets.Facet] {
        var counts = self
        for (text, objects) in tagTexts {
            let (key, value) = TagTexts.tag(text)
            counts.addTag(key, value, objects: objects)
        }
        let tags = counts.tags
        var days: [Int64: Int64] = [:]
        for (quarter, objects) in quarters {
            days[zone.day(of: UnixTime(seconds: QuarterHour.seconds(of: quarter))), default: 0] += objects
        }
        let keys = tags.map { (key: $0.key, objects: $0.value.values.reduce(counts.longTags[$0.key] ?? 0, +)) }
            .sorted { ($1.objects, $0.key) < ($0.objects, $1.key) }.prefix(ObjectFacets.mostValues)
        return [
            ObjectFacets.Facet(kind: .device, key: "", values: Self.most(devices)),
            ObjectFacets.Facet(
                kind: .site, key: "",
                values: Self.most(Dictionary(uniqueKeysWithValues: sites.map { (String($0.key), $0.value) }))),
            ObjectFacets.Facet(days: days),
        ] + keys.map { ObjectFacets.Facet(kind: .tag, key: $0.key, values: Self.most(tags[$0.key] ?? [:])) }
    }

    private static func most(_ counts: [String: Int64]) -> [(value: String, objects: Int64)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (value: $0.key, objects: $0.value) }
    }
}
