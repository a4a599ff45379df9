import Basics
import Database
import ObjectFilters

/// The place of an object in the order of age, which is the order of verification.
struct AgePlace: Sendable, Hashable {
    let verifiedAt: Int64
    let position: Int64

    static let start = AgePlace(verifiedAt: .min, position: .min)
}

extension ObjectRecords {
    /// Returns objects outside the trash that are older than `limit`, the oldest first. The age of a restored object counts from
    /// its restoration.
    func aged(
        organizationID: Int64, before limit: UnixTime, after place: AgePlace, _ permit: DeletionPermit, count: Int
    ) throws -> [AgePlace] {
        try connection.query(
            """
            SELECT o.verified_at, o.position FROM objects o
            WHERE o.organization_id = $1 AND o.trashed_at IS NULL AND \(permit.isBefore("o.verified_at", "$2"))
                AND (o.restored_at IS NULL OR \(permit.isBefore("o.restored_at", "$2")))
                AND (o.verified_at, o.position) > ($3, $4)
            ORDER BY o.verified_at, o.position LIMIT $5
            """, organizationID, limit.microseconds, place.verifiedAt, place.position, count
        ) { AgePlace(verifiedAt: $0.int64("verified_at"), position: $0.int64("position")) }
    }

    /// Returns those objects at the given positions that are outside the trash and older than `limit`; otherwise like
    /// ``aged(organizationID:before:after:_:count:)``.
    func aged(
        at positions: [Int64], organizationID: Int64, before limit: UnixTime, _ permit: DeletionPermit
    ) throws -> [(position: Int64, object: CatalogObject)] {
        try connection.query(
            """
            SELECT \(CatalogObject.columns) FROM objects o
            WHERE o.position IN (\(ParameterList.text(positions.count, from: 3))) AND o.organization_id = $1
                AND o.trashed_at IS NULL AND \(permit.isBefore("o.verified_at", "$2"))
                AND (o.restored_at IS NULL OR \(permit.isBefore("o.restored_at", "$2")))
            """, arguments: [organizationID, limit.microseconds] + positions
        ) { ($0.int64("position"), CatalogObject($0)) }
    }

    /// Returns the ages and sizes of objects outside the trash that are older than `limit`, the oldest first.
    func sizes(
        organizationID: Int64, before limit: UnixTime, after place: AgePlace, count: Int
    ) throws -> [(place: AgePlace, size: Int64, countsFrom: Int64)] {
        try connection.query(
            """
            SELECT verified_at, position, size, coalesce(restored_at, verified_at) AS counts_from FROM objects
            WHERE organization_id = $1 AND trashed_at IS NULL AND verified_at < $2
                AND (verified_at, position) > ($3, $4)
            ORDER BY verified_at, position LIMIT $5
            """, organizationID, limit.microseconds, place.verifiedAt, place.position, count
        ) {
            (
                AgePlace(verifiedAt: $0.int64("verified_at"), position: $0.int64("position")), $0.int64("size"),
                $0.int64("counts_from")
            )
        }
    }

    /// Returns the retention of an organization.
    func retentionRules(organizationID: Int64) throws -> RetentionRules {
        let days = try connection.first("SELECT days FROM retention WHERE organization_id = $1", organizationID) {
            Int32(clamping: $0.int64("days"))
        }
        let rules = try connection.query(
            "SELECT filter, days FROM retention_rules WHERE organization_id = $1 ORDER BY number", organizationID
        ) { row in
            let text = row.text("filter")
            return RetentionRules.Rule(
                text: text, filter: try RetentionRules.parse(text, field: "filter"),
                days: Int32(clamping: row.int64("days")))
        }
        return RetentionRules(days: days ?? 0, rules: rules)
    }

    /// - Parameter keepsRules: whether only the default changes.
    func setRetentionRules(_ retention: RetentionRules, organizationID: Int64, keepsRules: Bool) throws
    where C == Connection {
        if retention.days > 0 {
            try connection.execute(
                """
                INSERT INTO retention (organization_id, days) VALUES ($1, $2)
                ON CONFLICT (organization_id) DO UPDATE SET days = excluded.days
                """, organizationID, retention.days)
        } else {
            try connection.execute("DELETE FROM retention WHERE organization_id = $1", organizationID)
        }
        guard !keepsRules else { return }
        try connection.execute("DELETE FROM retention_rules WHERE organization_id = $1", organizationID)
        for (number, rule) in retention.rules.enumerated() {
            try connection.execute(
                "INSERT INTO retention_rules (organization_id, number, filter, days) VALUES ($1, $2, $3, $4)",
                organizationID, number, rule.text, rule.days)
        }
    }

    /// Returns the organizations that do not keep all objects forever.
    func organizationsWithRetention() throws -> [Int64] {
        try connection.query(
            """
            SELECT organization_id FROM retention UNION SELECT organization_id FROM retention_rules
            ORDER BY organization_id
            """
        ) { $0.int64("organization_id") }
    }
}
