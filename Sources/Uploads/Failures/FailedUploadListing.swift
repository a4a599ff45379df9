import Accounts
import Basics
import Database
import GatewayAPI
import Proto
import RPC

/// The rules of ListFailedUploads.
struct FailedUploadListing: Sendable {
    /// The number of rows that are read for one page of a filter.
    static let visits = 2000

    /// A failed upload, with the names of what it belongs to.
    struct Entry: Sendable {
        let upload: FailedUploadRecord
        let organization: String
        /// Empty = none.
        let deviceName: String
    }

    let database: Database
    let devices: any DeviceDirectory

    /// Returns a page of uploads. Runs off the event loops, because it may compare many rows.
    ///
    /// - Returns: the uploads, and the position after which the next page begins; `nil` = this is the last page.
    func page(
        _ filter: FailedUploadFilter, after position: FailurePosition, size: Int, for user: UserPrincipal
    ) async throws -> (uploads: [Entry], end: FailurePosition?) {
        try await database.readInBackground { connection in
            let found = try UploadRecords(connection).failures(
                filter, after: position,
                limit: PageLimit(rows: filter.comparesRows ? max(Self.visits, size) : size))
            // Another organization learns nothing of the device or site, not even whether there are further uploads.
            if let scope = filter.organizationID, filter.isOfOneOwner, found.rows.first?.organizationID != scope {
                return ([], nil)
            }
            let seen = found.rows.filter(filter.matches)
            let shown = seen.prefix(size)
            let end = seen.count > size ? shown.last : found.hasMore ? found.rows.last : nil
            return (
                try entries(Array(shown), for: user, in: connection),
                end.map { FailurePosition(endedAt: $0.endedAt, uploadID: $0.id) }
            )
        }
    }

    private func entries(
        _ uploads: [FailedUploadRecord], for user: UserPrincipal, in connection: ReadConnection
    ) throws -> [Entry] {
        let ids = Dictionary(grouping: uploads, by: \.organizationID).mapValues { Set($0.compactMap(\.deviceID)) }
        let names = try ids.reduce(into: [Int64: [String: String]]()) { names, entry in
            names[entry.key] = try devices.displayNames(
                of: entry.value.sorted(), organizationID: entry.key, in: connection)
        }
        let organizations = try OrganizationRecords(connection).names(of: Set(ids.keys), known: user.organization)
        return uploads.map { upload in
            Entry(
                upload: upload, organization: organizations[upload.organizationID] ?? "",
                deviceName: upload.deviceID.flatMap { names[upload.organizationID]?[$0] } ?? "")
        }
    }
}

extension FailedUploadFilter {
    /// - Throws: INVALID_ARGUMENT with the name of the field.
    init(_ request: ListFailedUploadsRequest, for user: UserPrincipal) throws(RPCError) {
        try FieldRules.note(request.deviceID, field: "device_id", limit: Self.longestDeviceID)
        organizationID = user.objectScope
        deviceID = request.deviceID.isEmpty ? nil : request.deviceID
        siteID = request.siteID == 0 ? nil : request.siteID
        causes = []
        for number in request.causes {
            guard let cause = FailedUploadRecord.Cause(rawValue: Int64(number.rawValue)) else {
                throw .invalidArgument("causes must hold causes of failed uploads, not \(number.rawValue)")
            }
            causes.insert(cause)
        }
        since = try Self.time(request.since, field: "since")
        until = try Self.time(request.until, field: "until")
    }

    /// The limit of a device id in bytes.
    private static let longestDeviceID = 64

    private static func time(_ time: Timestamp?, field: String) throws(RPCError) -> UnixTime? {
        guard let time else { return nil }
        guard let found = time.time else { throw .invalidArgument("\(field) is not a valid time") }
        return found
    }
}

extension FailedUpload {
    init(_ entry: FailedUploadListing.Entry) {
        let upload = entry.upload
        self.init(
            logicalUploadID: upload.logicalID, uploadID: upload.id, organization: entry.organization,
            deviceID: upload.deviceID ?? "", deviceName: entry.deviceName, siteID: upload.siteID,
            fileName: upload.fileName, fileSizeBytes: upload.fileSize, storedBytes: upload.stored,
            createdAt: Timestamp(upload.createdAt), endedAt: Timestamp(upload.endedAt),
            cause: FailedUploadCause(upload.cause), endedBy: upload.endedBy, reason: upload.reason)
    }
}
