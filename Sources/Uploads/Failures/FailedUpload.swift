import Basics
import Proto

/// An attempt at an upload that ended without an object. It is kept after a restart of its upload, for as long as the records of
/// uploads.
struct FailedUploadRecord: Sendable, Hashable {
    enum Cause: Int64, Sendable, CaseIterable {
        /// Its device, or the program with its site's key, aborted it.
        case aborted = 1
        /// A user canceled it.
        case canceled = 2
        /// Nothing was received until the end of its session.
        case expired = 3
        case deviceRetired = 4
    }

    let id: String
    let logicalID: String
    let organizationID: Int64
    let siteID: Int64
    let deviceID: String?
    let cause: Cause
    let reason: String
    /// The party that ended it, by its name in the audit log; empty = not known.
    let endedBy: String
    /// Empty = the client did not name the file.
    let fileName: String
    /// The size of the file in bytes; 0 = the client did not send it.
    let fileSize: Int64
    /// The number of acknowledged bytes when it ended.
    let stored: Int64
    let createdAt: UnixTime
    let endedAt: UnixTime
}

/// The end of an attempt that got no object.
struct UploadEnd: Sendable {
    let cause: FailedUploadRecord.Cause
    /// The party that ended it, by its name in the audit log.
    let actor: String
    let reason: String
    let time: UnixTime
}

/// A filter of failed uploads.
struct FailedUploadFilter: Sendable, Hashable {
    /// `nil` = of all organizations.
    var organizationID: Int64?
    /// `nil` = of all devices, and of sites themselves.
    var deviceID: String?
    /// `nil` = of all sites.
    var siteID: Int64?
    /// Empty = any.
    var causes: Set<FailedUploadRecord.Cause> = []
    /// Earlier ends are left out; `nil` = none.
    var since: UnixTime?
    /// Later ends, and those at this time, are left out; `nil` = none.
    var until: UnixTime?

    /// Whether the uploads are of one device or one site, each of which belongs to one organization for ever.
    var isOfOneOwner: Bool { deviceID != nil || siteID != nil }

    /// Whether an upload is one of the filter, whose times SQL compares.
    func matches(_ upload: FailedUploadRecord) -> Bool {
        (organizationID == nil || organizationID == upload.organizationID)
            && (deviceID == nil || deviceID == upload.deviceID) && (siteID == nil || siteID == upload.siteID)
            && (causes.isEmpty || causes.contains(upload.cause))
    }

    /// Whether rows are compared that an index does not select.
    var comparesRows: Bool { !causes.isEmpty || (deviceID != nil && siteID != nil) }

    /// A text that differs for another filter.
    var scope: String {
        let numbers = [organizationID, siteID, since?.microseconds, until?.microseconds]
        let causes = causes.map(\.rawValue).sorted().map { "\($0)" }
        return (numbers.map { $0.map { "\($0)" } ?? "-" } + causes + [deviceID ?? ""]).joined(separator: "\n")
    }
}

extension FailedUploadCause {
    init(_ cause: FailedUploadRecord.Cause) {
        self =
            switch cause {
            case .aborted: .aborted
            case .canceled: .canceled
            case .expired: .expired
            case .deviceRetired: .deviceRetired
            }
    }
}
