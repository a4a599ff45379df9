import Accounts
import Basics
import Database
import GatewayTesting

@testable import ObjectStore
@testable import Uploads

/// The state of one device's uploads in the database, at one moment.
struct Facts {
    struct Attempt {
        let id: String
        let logicalID: String
        let state: UploadRecord.State?
        let sessionEndsAt: UnixTime
        let isSwept: Bool
    }

    /// A multipart upload that was not completed.
    struct Multipart {
        let id: String
        let uploadID: String
        let bytes: Int64
    }

    struct Object {
        let uploadID: String
        let fileID: String
        let bytes: Int64
        let isMultipart: Bool
    }

    let now: UnixTime
    let attempts: [Attempt]
    let multiparts: [Multipart]
    /// The objects in the store.
    let objects: [Object]
    /// The objects in the catalog: file ids by upload, and what their tags cost.
    let listed: [(uploadID: String, fileID: String, tagCost: Int64)]
    /// The usage rows for quotas.
    let deviceUsage: Usage
    let siteUsage: Usage
    /// Audit lines that appear more often than once although they may not.
    let recordedTwice: [String]

    /// - Parameter line: the last audit line that is ignored.
    init(_ world: World, deviceID: String, after line: Int64) throws {
        now = world.scene.clock.now()
        (attempts, multiparts, objects, listed, deviceUsage, siteUsage, recordedTwice) = try world.scene.database
            .readBlocking {
                try (
                    Self.attempts(deviceID, $0), Self.multiparts(deviceID, $0), Self.objects(deviceID, $0),
                    $0.query(Self.listed, deviceID) { ($0.text(0), $0.text(1), $0.int64(2)) },
                    UsageRecords($0).usage(device: deviceID), UsageRecords($0).usage(site: 1),
                    Self.recordedTwice(line, $0)
                )
            }
    }

    func holds(_ uploadID: String) -> Bool {
        multiparts.contains { $0.uploadID == uploadID } || objects.contains { $0.uploadID == uploadID }
    }

    /// The device's usage, counted from the other facts.
    var counted: Usage {
        Usage(
            bytes: multiparts.reduce(0) { $0 + $1.bytes } + objects.reduce(0) { $0 + $1.bytes }
                + listed.reduce(0) { $0 + $1.tagCost },
            objects: Int64(listed.count),
            uploads: Int64(attempts.count { $0.state == .current && !$0.isSwept }))
    }

    // MARK: Queries

    private static let ofDevice = """
        SELECT u.id FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id WHERE l.device_id = $1
        """

    /// The cost is that of short tags, see `TagCost`.
    private static let listed = """
        SELECT upload_id, file_id, (
            SELECT coalesce(sum(150 + 8 * (octet_length(key) + octet_length(value))), 0)
            FROM object_tags t WHERE t.position = o.position)
        FROM objects o WHERE device_id = $1
        """

    private static func attempts(_ deviceID: String, _ connection: ReadConnection) throws -> [Attempt] {
        try connection.query(
            "SELECT id, logical_id, state, session_ends_at, is_swept FROM uploads WHERE id IN (\(ofDevice))", deviceID
        ) {
            Attempt(
                id: $0.text(0), logicalID: $0.text(1), state: UploadRecord.State(rawValue: $0.int64(2)),
                sessionEndsAt: UnixTime(microseconds: $0.int64(3)), isSwept: $0.bool(4))
        }
    }

    private static func multiparts(_ deviceID: String, _ connection: ReadConnection) throws -> [Multipart] {
        try connection.query(
            """
            SELECT id, upload_id, (SELECT coalesce(sum(size), 0) FROM store_parts WHERE multipart_id = m.id)
            FROM store_multiparts m WHERE completed = 0 AND upload_id IN (\(ofDevice))
            """, deviceID
        ) { Multipart(id: $0.text(0), uploadID: $0.text(1), bytes: $0.int64(2)) }
    }

    private static func objects(_ deviceID: String, _ connection: ReadConnection) throws -> [Object] {
        try connection.query(
            """
            SELECT upload_id, file_id, size, multipart_id IS NOT NULL FROM store_objects
            WHERE upload_id IN (\(ofDevice))
            """, deviceID
        ) { Object(uploadID: $0.text(0), fileID: $0.text(1), bytes: $0.int64(2), isMultipart: $0.bool(3)) }
    }

    private static func recordedTwice(_ line: Int64, _ connection: ReadConnection) throws -> [String] {
        let once: Set = ["CreateLogicalUpload", "CompleteUpload", "AbortUpload", "SweepUpload"]
        let lines = try AccountRows.audit(after: line, in: connection).filter { once.contains($0.action) }
        return Dictionary(grouping: lines) { "\($0.action) \($0.target)" }.filter { $0.value.count > 1 }.keys.sorted()
    }
}
