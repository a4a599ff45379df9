import Database

/// The SQL of facets over all objects.
struct FacetRecords {
    /// The number of organizations whose values are read for a facet of all organizations: those with most objects.
    private static let mostOrganizations = 20

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    /// - Parameter scope: the organization; `nil` = all.
    func all(scope: Int64?) throws -> ObjectFacets.Result {
        let organizations = try scope.map { [$0] } ?? largestOrganizations()
        let count =
            try connection.query(
                """
                SELECT coalesce(sum(objects), 0) AS objects FROM object_facets
                WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $1")
                    AND kind = \(FacetKind.all.rawValue)
                """, arguments: scope.map { [$0] } ?? [], row: { $0.int64("objects") }
            ).first ?? 0
        var facets = try [FacetKind.device, .site, .day].map { try facet($0, "", organizations, scope) }
        for (key, _) in try facet(.tagKey, "", organizations, scope).values {
            let facet = try facet(.tag, key, organizations, scope)
            if !facet.values.isEmpty { facets.append(facet) }
        }
        return ObjectFacets.Result(count: count, isExact: true, facets: facets)
    }

    private func largestOrganizations() throws -> [Int64] {
        try connection.query(
            """
            SELECT organization_id FROM object_facets
            WHERE organization_id IN (SELECT id FROM organizations) AND kind = \(FacetKind.all.rawValue)
            ORDER BY objects DESC LIMIT $1
            """, Self.mostOrganizations, row: { $0.int64("organization_id") })
    }

    private func facet(
        _ kind: FacetKind, _ key: String, _ organizations: [Int64], _ scope: Int64?
    ) throws -> ObjectFacets.Facet {
        var sums: [String: Int64] = [:]
        for organization in organizations {
            for (value, objects) in try most(kind, key, organization) { sums[value, default: 0] += objects }
        }
        if scope == nil, organizations.count > 1 {
            // An organization may have further objects with a value that is not one of its own most frequent values.
            let likely = sums.sorted { $0.value > $1.value }.prefix(2 * Self.limit(of: kind))
            sums = Dictionary(
                uniqueKeysWithValues: try likely.map { ($0.key, try sum(kind, key, $0.key)) })
        }
        let sorted =
            kind == .day
            ? sums.sorted { $0.key > $1.key } : sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ObjectFacets.Facet(
            kind: kind, key: key,
            values: sorted.prefix(Self.limit(of: kind)).map { (value: $0.key, objects: $0.value) })
    }

    private static func limit(of kind: FacetKind) -> Int {
        kind == .device ? ObjectFacets.mostDevices : ObjectFacets.mostValues
    }

    private func most(_ kind: FacetKind, _ key: String, _ organization: Int64) throws -> [(String, Int64)] {
        try connection.query(
            """
            SELECT value, objects FROM object_facets WHERE organization_id = $1 AND kind = $2 AND key = $3
            ORDER BY \(kind == .day ? "value" : "objects") DESC LIMIT $4
            """, organization, kind.rawValue, key, Self.limit(of: kind),
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
