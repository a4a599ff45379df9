import Database

/// The SQL of sums of bytes.
struct StorageUseRecords {
    /// The number of organizations whose values are read for all of them: those with most bytes.
    static let mostOrganizations = 20
    /// The numbers of values that are read of an organization, and of each of several.
    private static let (mostValues, mostValuesOfEach) = (10_000, 1000)
    private static let mostTagKeys = 20

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    /// Returns the amount outside the trash.
    ///
    /// - Parameter scope: the organization; `nil` = all.
    func listed(scope: Int64?) throws -> Amount {
        try connection.query(
            """
            SELECT coalesce(sum(objects), 0) AS objects, coalesce(sum(bytes), 0) AS bytes FROM object_facets
            WHERE organization_id \(scope == nil ? "IN (SELECT id FROM organizations)" : "= $1")
                AND kind = \(FacetKind.all.rawValue)
            """, arguments: scope.map { [$0] } ?? [], row: Self.amount
        ).first ?? Amount()
    }

    /// Returns the organizations with most bytes.
    func largestOrganizations() throws -> [Int64] {
        try connection.query(
            """
            SELECT organization_id FROM object_facets
            WHERE organization_id IN (SELECT id FROM organizations) AND kind = \(FacetKind.all.rawValue)
            ORDER BY bytes DESC LIMIT $1
            """, Self.mostOrganizations, row: { $0.int64("organization_id") })
    }

    /// Returns the amounts of organizations by name, those with most bytes first.
    ///
    /// - Parameter ids: at most ``mostOrganizations``.
    func organizations(_ ids: [Int64]) throws -> [(String, Amount)] {
        guard !ids.isEmpty else { return [] }
        let ids = ParameterList.padded(ids)
        return try connection.query(
            """
            SELECT o.name, f.objects, f.bytes FROM object_facets f JOIN organizations o ON o.id = f.organization_id
            WHERE f.organization_id IN (\(ParameterList.text(ids.count))) AND f.kind = \(FacetKind.all.rawValue)
            ORDER BY f.bytes DESC, o.name
            """, arguments: ids
        ) { ($0.text("name"), Self.amount($0)) }
    }

    /// Returns the sums of organizations by value, and whether there are values that were not read.
    func amounts(
        _ kind: FacetKind, _ key: String, of organizations: [Int64]
    ) throws -> (amounts: [String: Amount], isLowerBound: Bool) {
        let limit = organizations.count > 1 ? Self.mostValuesOfEach : Self.mostValues
        var sums: [String: Amount] = [:]
        var isLowerBound = false
        for organization in organizations {
            let found = try connection.query(
                """
                SELECT value, objects, bytes FROM object_facets WHERE organization_id = $1 AND kind = $2 AND key = $3
                ORDER BY objects DESC LIMIT $4
                """, organization, kind.rawValue, key, limit
            ) { ($0.text("value"), Self.amount($0)) }
            isLowerBound = isLowerBound || found.count == limit
            for (value, amount) in found {
                sums[value, default: Amount()].objects += amount.objects
                sums[value, default: Amount()].bytes += amount.bytes
            }
        }
        return (sums, isLowerBound)
    }

    /// Returns the keys of the tags that most objects have.
    func tagKeys(of organizations: [Int64]) throws -> [String] {
        let keys = try amounts(.tagKey, "", of: organizations).amounts
        return keys.sorted { ($1.value.objects, $0.key) < ($0.value.objects, $1.key) }.prefix(Self.mostTagKeys)
            .map(\.key)
    }

    private static func amount(_ row: Row) -> Amount {
        Amount(objects: row.int64("objects"), bytes: row.int64("bytes"))
    }
}
