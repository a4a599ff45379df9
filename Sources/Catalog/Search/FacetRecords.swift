import Database
import TimeZones

/// The SQL of facets over all objects.
struct FacetRecords {
    /// The number of organizations whose values are read for a facet of all organizations: those with most objects.
    private static let mostOrganizations = 20

    /// The numbers of values that are read of a facet whose values are searched, and of devices, as retired ones are left out.
    private static let (mostSearched, mostDevices) = (10_000, 2000)
    /// The number of values up to which they are counted.
    private static let mostCounted: Int64 = 10_000

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    /// Returns facets with as many values as the query needs to be answered.
    ///
    /// - Parameter scope: the organization; `nil` = all.
    func all(_ query: FacetQuery, scope: Int64?) throws -> ObjectFacets.Result {
        let organizations = try scope.map { [$0] } ?? largestOrganizations()
        let count =
            try connection.query(
                """
                SELECT coalesce(sum(objects), 0) AS objects FROM object_facets
                WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $1")
                    AND kind = \(FacetKind.all.rawValue)
                """, arguments: scope.map { [$0] } ?? [], row: { $0.int64("objects") }
            ).first ?? 0
        func facet(_ kind: FacetKind, _ key: String = "") throws -> ObjectFacets.Facet {
            if kind == .recorded { return try days(in: query.filter.zone, scope: scope) }
            let limit = kind == .device ? Self.mostDevices : query.part.isEmpty ? query.limit : Self.mostSearched
            return try self.facet(kind, key, organizations, scope, limit: limit)
        }
        if let kind = query.kind {
            return ObjectFacets.Result(count: count, isExact: true, facets: [try facet(kind.kind, kind.key)])
        }
        var facets = try [FacetKind.device, .site, .recorded].map { try facet($0) }
        let keys = try self.facet(.tagKey, "", organizations, scope, limit: ObjectFacets.mostValues)
        for (key, _) in keys.values {
            let facet = try facet(.tag, key)
            if !facet.values.isEmpty { facets.append(facet) }
        }
        return ObjectFacets.Result(count: count, isExact: true, facets: facets)
    }

    private func days(in zone: TimeZoneRules, scope: Int64?) throws -> ObjectFacets.Facet {
        ObjectFacets.Facet(days: try amountsOfDays(in: zone, scope: scope).mapValues(\.objects))
    }

    /// Sums the quarter hours of all organizations, or of one, to days since 1970.
    func amountsOfDays(in zone: TimeZoneRules, scope: Int64?) throws -> [Int64: Amount] {
        let scopes: [(any Bindable)?] = scope.map { [$0] } ?? []
        let ends = try connection.query(
            """
            SELECT min(value) AS first_value, max(value) AS last_value FROM object_facets
            WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $1")
                AND kind = \(FacetKind.recorded.rawValue) AND key = ''
            """, arguments: scopes
        ) { row in
            row.optionalText("first_value").flatMap { Int64($0) }.map { $0...(Int64(row.text("last_value")) ?? $0) }
        }
        guard let ends = ends.first ?? nil else { return [:] }
        let times = QuarterHour.seconds(of: ends.lowerBound)..<QuarterHour.seconds(of: ends.upperBound + 1)
        var days: [Int64: Amount] = [:]
        for span in zone.spans(in: times) {
            let bounds = [span.seconds.lowerBound, span.seconds.upperBound].map { String(QuarterHour.number(from: $0)) }
            let counts = try connection.query(
                """
                SELECT \(QuarterHour.localDay) AS day, sum(objects) AS objects, sum(bytes) AS bytes FROM object_facets
                WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $4")
                    AND kind = \(FacetKind.recorded.rawValue) AND key = '' AND value >= $2 AND value < $3
                GROUP BY \(QuarterHour.localDay)
                """, arguments: [span.offset, bounds[0], bounds[1]] + scopes
            ) { (day: $0.int64("day"), objects: $0.int64("objects"), bytes: $0.int64("bytes")) }
            for (day, objects, bytes) in counts {
                days[day, default: Amount()].objects += objects
                days[day, default: Amount()].bytes += bytes
            }
        }
        return days
    }

    private func largestOrganizations() throws -> [Int64] {
        try connection.query(
            """
            SELECT organization_id FROM object_facets
            WHERE organization_id IN (SELECT id FROM organizations) AND kind = \(FacetKind.all.rawValue)
            ORDER BY objects DESC LIMIT $1
            """, Self.mostOrganizations, row: { $0.int64("organization_id") })
    }

    /// - Parameter limit: the number of values that are read of each organization.
    private func facet(
        _ kind: FacetKind, _ key: String, _ organizations: [Int64], _ scope: Int64?, limit: Int
    ) throws -> ObjectFacets.Facet {
        var sums: [String: Int64] = [:]
        var hasMore = false
        for organization in organizations {
            let values = try most(kind, key, organization, limit)
            hasMore = hasMore || values.count == limit
            for (value, objects) in values { sums[value, default: 0] += objects }
        }
        if scope == nil, organizations.count > 1, hasMore {
            // An organization may have further objects with a value that is not one of its own most frequent values.
            let likely = sums.sorted { $0.value > $1.value }.prefix(2 * ObjectFacets.mostValues)
            sums = Dictionary(
                uniqueKeysWithValues: try likely.map { ($0.key, try sum(kind, key, $0.key)) })
        }
        let sorted = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var facet = ObjectFacets.Facet(kind: kind, key: key, values: sorted.map { (value: $0.key, objects: $0.value) })
        guard hasMore else { return facet }
        if limit >= Self.mostDevices {
            facet.isLowerBound = true
        } else {
            let total = try count(kind, key, scope)
            facet.total = min(total, Self.mostCounted)
            facet.isLowerBound = total > Self.mostCounted
        }
        return facet
    }

    /// Returns the number of values, one more than the limit if there are more.
    private func count(_ kind: FacetKind, _ key: String, _ scope: Int64?) throws -> Int64 {
        try connection.query(
            """
            SELECT count(*) AS found FROM (
                SELECT DISTINCT value FROM object_facets
                WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $4")
                    AND kind = $1 AND key = $2
                LIMIT $3) AS found_values
            """, arguments: [kind.rawValue, key, Self.mostCounted + 1] + (scope.map { [$0] } ?? [])
        ) { $0.int64("found") }.first ?? 0
    }

    private func most(
        _ kind: FacetKind, _ key: String, _ organization: Int64, _ limit: Int
    ) throws -> [(String, Int64)] {
        try connection.query(
            """
            SELECT value, objects FROM object_facets WHERE organization_id = $1 AND kind = $2 AND key = $3
            ORDER BY objects DESC LIMIT $4
            """, organization, kind.rawValue, key, limit,
            row: { ($0.text("value"), $0.int64("objects")) })
    }

    private func sum(_ kind: FacetKind, _ key: String, _ value: String) throws -> Int64 {
        try connection.first(
            """
            SELECT coalesce(sum(objects), 0) AS objects FROM object_facets
            WHERE organization_id IN (SELECT id FROM organizations) AND kind = $1 AND key = $2 AND value = $3
            """, kind.rawValue, key, value
        ) { $0.int64("objects") } ?? 0
    }
}
