package import Database

/// The numbers of objects by quarter hour of their recording time, compared with the objects.
package struct RecordingCounts<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the number of quarter hours of organizations whose number is wrong.
    package func countWrong() throws -> Int {
        try connection.first(
            """
            SELECT count(*) AS wrong FROM (
                SELECT organization_id, value FROM (
                    SELECT organization_id, value, objects, bytes FROM object_facets
                    WHERE kind = \(FacetKind.recorded.rawValue)
                    UNION ALL
                    SELECT organization_id, value, -objects AS objects, -bytes AS bytes
                    FROM (\(RecordingTime.counts)) AS counted
                ) AS both_numbers
                GROUP BY organization_id, value HAVING sum(objects) <> 0 OR sum(bytes) <> 0
            ) AS differences
            """
        ) { $0.int("wrong") } ?? 0
    }

    /// Counts all objects again.
    package func renew() throws where C == Connection {
        try connection.execute("DELETE FROM object_facets WHERE kind = \(FacetKind.recorded.rawValue)")
        try connection.execute(
            "INSERT INTO object_facets (organization_id, kind, key, value, objects, bytes) \(RecordingTime.counts)")
    }
}
