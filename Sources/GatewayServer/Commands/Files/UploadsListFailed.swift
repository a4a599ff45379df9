import Accounts
import Basics
package import CommandLineInterface
package import Proto

/// `data-gateway uploads list-failed`
struct UploadsListFailed: ClientCommand {
    /// The causes by which failed uploads can be filtered.
    enum Cause: String, ArgumentChoice {
        case aborted
        case canceled
        case expired
        case deviceRetired = "device-retired"

        var number: FailedUploadCause {
            switch self {
            case .aborted: .aborted
            case .canceled: .canceled
            case .expired: .expired
            case .deviceRetired: .deviceRetired
            }
        }
    }

    static let name = "list-failed"
    static let summary = "List the uploads that ended without an object, those first that ended last"
    static let examples = ["uploads list-failed --since 24h", "uploads list-failed --device 260427-000001"]

    static var parameters: [Parameter<Self>] {
        [
            .option("--device", "DEVICE", \.device, "List only uploads of this device, by its id"),
            .option("--site", "SITE", \.site, "List only uploads of this site, by its number or name"),
            .option(
                "--cause", "CAUSE", \.cause,
                "List only uploads that ended for this cause: aborted, canceled, expired or device-retired"),
            .option(
                "--since", "TIME", \.since,
                "List only uploads that ended since an age (30m, 24h, 7d), a date or an RFC 3339 time"),
            .option("--until", "TIME", \.until, "List only uploads that ended before an age, a date or a time"),
            .option("--limit", "N", \.limit, "Show at most this many uploads (default: 100)"),
        ] + connectionParameters
    }

    var device = ""
    var site: String?
    var cause: Cause?
    var since: PastTime?
    var until: PastTime?
    var limit: Int64 = 100
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard limit > 0 else { throw ClientFailure("--limit must be above 0", exitCode: .usage) }
        let siteID = try await SiteArgument.existing(site, gateway)
        let service = UploadManagementServiceClient(gateway)
        var request = ListFailedUploadsRequest(
            deviceID: device, siteID: siteID, causes: cause.map { [$0.number] } ?? [],
            since: since.map { Timestamp($0.time(at: gateway.now)) },
            until: until.map { Timestamp($0.time(at: gateway.now)) })
        var uploads: [FailedUpload] = []
        repeat {
            request.pageSize = Int32(clamping: min(Int64(Pages.size), limit - Int64(uploads.count)))
            let page = try await service.listFailedUploads(request)
            uploads += page.uploads
            request.pageToken = page.nextPageToken
        } while !request.pageToken.isEmpty && uploads.count < limit
        return Reply("uploads", uploads, things: "failed uploads")
    }
}

extension FailedUpload: Resource {
    package static let columns = [
        "file_name", "device_name", "cause", "reason", "stored_bytes", "ended_at", "upload_id",
    ]
    package static let expendableColumns = [
        "upload_id", "stored_bytes", "ended_at", "device_name", "reason", "cause",
    ]

    package var fields: [ResourceField] {
        let word = cause.word
        return [
            .text("file_name", fileName), .text("logical_upload_id", logicalUploadID), .text("upload_id", uploadID),
            .text("organization", organization), .text("device_id", deviceID),
            .deviceName(deviceName, of: deviceID), .number("site_id", siteID),
            .text(
                "cause", "FAILED_UPLOAD_CAUSE_\(word.uppercased().replacing(bytes: [" ": "_"]))", shownAs: word),
            .text("reason", reason), .text("ended_by", endedBy), .size("stored_bytes", storedBytes),
            .size("file_size_bytes", fileSizeBytes), .time("created_at", createdAt), .time("ended_at", endedAt),
        ]
    }
}

extension FailedUploadCause {
    /// The cause for people.
    fileprivate var word: String {
        switch self {
        case .aborted: "aborted"
        case .canceled: "canceled"
        case .expired: "expired"
        case .deviceRetired: "device retired"
        case .unspecified, .unrecognized: "unspecified"
        }
    }
}
