import Basics
import Database
import TimeZones

/// The tables of recording times. The recording time of an object is the beginning of the recording, or of the upload if that is
/// unknown.
enum RecordingTimeSchema {
    static let migration = Migration(
        name: "catalog-recording-times",
        sql: """
            CREATE INDEX objects_by_recording
                ON objects (organization_id, coalesce(recorded_from, created_at), position);

            -- kind 7 replaces 4, the day of creation: the quarter hour of the recording time, 201600000 = that of
            -- 1970-01-01T00:00:00Z.
            DELETE FROM object_facets WHERE kind = 4;
            INSERT INTO object_facets (organization_id, kind, key, value, objects)
            SELECT organization_id, 7, '',
                CAST((coalesce(recorded_from, created_at) + 181440000000000000) / 900000000 AS TEXT), count(*)
            FROM objects
            WHERE trashed_at IS NULL AND position >= coalesce((SELECT position FROM search_upgrade), 0)
            GROUP BY organization_id,
                CAST((coalesce(recorded_from, created_at) + 181440000000000000) / 900000000 AS TEXT);
            """)
}

enum RecordingTime {
    /// The recording time in microseconds since 1970, as an expression of columns.
    static let sql = "coalesce(recorded_from, created_at)"
    /// The text of its ``QuarterHour``.
    static let quarterHour = "CAST((coalesce(recorded_from, created_at) + 181440000000000000) / 900000000 AS TEXT)"

    /// The query for the counts that the objects' rows give.
    static let counts = """
        SELECT organization_id, 7 AS kind, '' AS key, \(quarterHour) AS value, count(*) AS objects,
            CAST(coalesce(sum(CASE WHEN position >= coalesce((SELECT lowest FROM facet_bytes_upgrade), 0)
                AND position < coalesce((SELECT position FROM facet_bytes_upgrade), 0) THEN 0 ELSE size END), 0) AS BIGINT)
                AS bytes
        FROM objects
        WHERE trashed_at IS NULL AND position >= coalesce((SELECT position FROM search_upgrade), 0)
        GROUP BY organization_id, \(quarterHour)
        """
}

/// A quarter hour as `object_facets` has it: a number of nine digits, so that the order of the texts is that of the times.
enum QuarterHour {
    /// The number of the first quarter hour of 1970: whole days, so that days follow from numbers by a division.
    static let origin: Int64 = 96 * 2_100_000
    private static let microseconds = TimeZoneRules.quarter * 1_000_000

    /// The day of a text in days since 1970, as an expression; `$1` is the offset of the zone in seconds.
    static let localDay = "((CAST(value AS BIGINT) * 900 + CAST($1 AS BIGINT)) / 86400 - 2100000)"

    /// - Parameter time: from the year 0 to 9999, in microseconds since 1970.
    static func number(ofMicroseconds time: Int64) -> Int64 { (time &+ origin * microseconds) / microseconds }

    static func text(of time: UnixTime) -> String { String(number(ofMicroseconds: time.microseconds)) }

    /// Returns the first second of a quarter hour since 1970.
    static func seconds(of number: Int64) -> Int64 { (number - origin) * TimeZoneRules.quarter }

    /// Returns the number of the quarter hour that begins at a time, which is in seconds since 1970.
    static func number(from seconds: Int64) -> Int64 { seconds / TimeZoneRules.quarter + origin }
}

/// The positions of objects whose recording time is in an interval.
struct RecordingTimeRecords {
    /// The number of objects up to which each is a candidate by itself.
    private static let mostPositions = 20_000
    /// The number of objects up to which the range of their positions is determined.
    private static let mostInRange = 100_000

    enum Positions {
        /// In descending order.
        case each([Int64])
        case within(PositionBounds)
    }

    let connection: ReadConnection

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    /// - Parameter interval: microseconds since 1970.
    func positions(in interval: Range<Int64>, organizationID: Int64) throws -> Positions {
        let arguments: [(any Bindable)?] = [organizationID, interval.lowerBound, interval.upperBound]
        let matches = """
            FROM objects
            WHERE organization_id = $1 AND \(RecordingTime.sql) >= $2 AND \(RecordingTime.sql) < $3
            """
        let beyond = try connection.query(
            "SELECT 1 AS found \(matches) LIMIT 1 OFFSET \(Self.mostPositions)", arguments: arguments,
            row: { _ in true })
        guard !beyond.isEmpty else {
            let positions = try connection.query("SELECT position \(matches)", arguments: arguments) {
                $0.int64("position")
            }
            return .each(positions.sorted(by: >))
        }
        let bounds = try connection.query(
            """
            SELECT min(position) AS lowest, max(position) AS highest, count(*) AS objects
            FROM (SELECT position \(matches) LIMIT \(Self.mostInRange)) AS matching
            """, arguments: arguments
        ) { row in
            row.int("objects") < Self.mostInRange
                ? PositionBounds(lowest: row.int64("lowest"), highest: row.int64("highest")) : .all
        }
        return .within(bounds.first ?? .all)
    }
}

/// Positions that are known at once.
final class PositionList: PositionStream {
    /// In descending order.
    private let positions: [Int64]

    init(_ positions: [Int64]) {
        self.positions = positions
    }

    func next(below position: Int64) -> PositionStep {
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { high = middle } else { low = middle + 1 }
        }
        return low < positions.count ? .found(positions[low]) : .end
    }
}
