import Accounts
import Basics
import Catalog
import GatewayAPI
import RPC

extension ObjectOwner {
    /// Whether the caller is the same device, or the same site, even with another key or after the device was moved.
    func isSame(as caller: ObjectOwner) -> Bool {
        organizationID == caller.organizationID && deviceID == caller.deviceID
            && (deviceID != nil || siteID == caller.siteID)
    }

    init(_ owner: KeyOwner) {
        switch owner {
        case .device(let device):
            self.init(
                organizationID: device.organizationID, siteID: device.siteID, suiteID: device.suiteID,
                deviceID: device.deviceID)
        case .site(let site):
            self.init(organizationID: site.organizationID, siteID: site.siteID, suiteID: nil, deviceID: nil)
        }
    }
}

/// The location of an attempt's object, as issued with its credentials; it never changes.
struct UploadLocation: Sendable, Hashable {
    let bucket: String
    let endpoint: String
    let region: String
    let backend: String
    let key: String
    /// The size of a part in bytes.
    let partSize: Int64
}

/// The result of a completed attempt.
struct CompletedObject: Sendable, Hashable {
    /// The size in bytes.
    let size: Int64
    /// The entity tag in responses to HEAD.
    let etag: String
    /// The number of parts; 0 for an object from a single PUT.
    let partCount: Int
    let tagsDigest: [UInt8]
}

/// One attempt at a logical upload.
struct UploadRecord: Sendable, Hashable {
    enum State: Int64, Sendable {
        case current = 1
        /// Replaced by another attempt.
        case superseded = 2
        case aborted = 3
        case completed = 4
    }

    let id: String
    let logicalID: String
    let owner: ObjectOwner
    let location: UploadLocation
    let createdAt: UnixTime
    /// The time when it began, by the steady clock.
    let beganAt: UnixTime
    /// Whether it replaced another attempt.
    let isRestart: Bool
    /// The client's hints about its file from the beginning of the logical upload.
    let hints: UploadHints
    var state: State
    /// The end of the session, by the steady clock.
    var sessionEndsAt: UnixTime
    /// Whether there was a data-plane request.
    var isTouched: Bool
    /// Whether its data was removed after its session's end.
    var isSwept: Bool
    var refreshCount: Int64
    var abortReason: String?
    var completed: CompletedObject?

    /// The upload's name in the audit log.
    var auditName: String { "uploads/\(id)" }
}

/// The description of the file in `client_hints` when an upload begins. It is shown during the upload, and provides the preferred
/// name of the object. Deployed SDKs send name and size only with CompleteUpload.
///
/// Malformed hints are ignored: a file should not be refused because of its description. A path is checked, since clients make folders
/// of it.
struct UploadHints: Sendable, Hashable {
    static let none = UploadHints(fileName: nil, fileSize: nil, recordedFrom: nil, recordedTo: nil)

    let fileName: FileName?
    /// The path below the folder that is uploaded.
    var relativePath: RelativePath?
    /// The size in bytes.
    let fileSize: Int64?
    /// The time range that the content covers.
    let recordedFrom: UnixTime?
    let recordedTo: UnixTime?
}

extension UploadHints {
    /// Reads the hints `file_name`, `relative_path`, `file_size` (a decimal number), `recorded_from` and `recorded_to` (RFC 3339).
    ///
    /// - Throws: INVALID_ARGUMENT for a path that breaks the rule of ``RelativePath``.
    init(_ hints: [String: String]) throws(RPCError) {
        self.init(
            fileName: hints["file_name"].flatMap { FileName($0) },
            fileSize: hints["file_size"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil },
            recordedFrom: hints["recorded_from"].flatMap { RFC3339.parse($0)?.time },
            recordedTo: hints["recorded_to"].flatMap { RFC3339.parse($0)?.time })
        relativePath = try Self.path(hints["relative_path"] ?? "", field: "client_hints[\"relative_path\"]")
    }

    /// - Returns: `nil` for an empty text.
    /// - Throws: INVALID_ARGUMENT for any other text that is no path.
    static func path(_ text: String, field: String) throws(RPCError) -> RelativePath? {
        if text.isEmpty { return nil }
        guard let path = RelativePath(text) else { throw .invalidArgument("\(field) \(RelativePath.rule)") }
        return path
    }
}
