import Accounts
import Basics
import Catalog

extension ObjectOwner {
    /// Whether the same device, or the same site, calls: also by another key, and from where it was moved to.
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

/// Where one attempt stores its object: as issued, for the whole life of its upload id.
struct UploadLocation: Sendable, Hashable {
    let bucket: String
    let endpoint: String
    let region: String
    let backend: String
    let key: String
    /// Bytes.
    let partSize: Int64
}

/// What an attempt was completed with.
struct CompletedObject: Sendable, Hashable {
    /// Bytes.
    let size: Int64
    /// The entity tag that HEAD answers with.
    let etag: String
    /// 0 for an object that was put whole.
    let partCount: Int
    let tagsDigest: [UInt8]
}

/// One attempt at a logical upload.
struct UploadRecord: Sendable, Hashable {
    enum State: Int64, Sendable {
        case current = 1
        /// Another attempt took its place.
        case superseded = 2
        case aborted = 3
        case completed = 4
    }

    let id: String
    let logicalID: String
    let owner: ObjectOwner
    let location: UploadLocation
    let createdAt: UnixTime
    /// When it began; by the steady clock.
    let beganAt: UnixTime
    /// It took the place of another attempt.
    let isRestart: Bool
    /// What the client told of its file when the logical upload began.
    let hints: UploadHints
    var state: State
    /// By the steady clock.
    var sessionEndsAt: UnixTime
    /// A data-plane request came.
    var isTouched: Bool
    /// What it stored was removed after its session's end.
    var isSwept: Bool
    var refreshCount: Int64
    var abortReason: String?
    var completed: CompletedObject?

    /// The upload's name in the audit log.
    var auditName: String { "uploads/\(id)" }
}
