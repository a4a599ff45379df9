import Proto

/// The state of a logical upload's current attempt in the database and the store.
struct UploadFacts: Sendable, Hashable {
    /// CompleteUpload has succeeded.
    var isCompleted = false
    var isAborted = false
    /// The store has an object that was assembled from parts.
    var hasWholeMultipartObject = false
    /// The session has ended, the stored data was swept, or the endpoint is no longer the gateway's.
    var isPastItsEnd = false
    /// The store has lost acknowledged data.
    var isLost = false
    /// The attempt replaced an earlier one.
    var isRestart = false
    /// A data-plane request used the upload id.
    var isTouched = false
    /// A multipart upload is open.
    var hasMultipart = false
    /// An open multipart upload has a part.
    var hasPart = false
}

/// The result of GetUploadRecovery. The client does what it is told here, so a wrong result would leave it stuck.
///
/// The rules are tried in order, and the first one that applies decides.
struct RecoveryDecision: Sendable, Hashable {
    let status: LogicalUploadStatus
    let action: UploadRecoveryAction
    /// Whether ReissueUploadCredentials succeeds.
    let canRefreshCredentials: Bool
    /// Whether CreateLogicalUpload accepts the upload id as the one to restart from.
    let isRestartAllowed: Bool

    init(_ facts: UploadFacts) {
        if facts.isCompleted {
            self.init(.completed, .completeOnly, canRefreshCredentials: true, isRestartAllowed: false)
        } else if facts.isAborted {
            self.init(.terminal, .abort, canRefreshCredentials: false, isRestartAllowed: false)
        } else if facts.hasWholeMultipartObject {
            // Whatever the state of the session: all bytes are stored, and only CompleteUpload is missing.
            self.init(.completing, .completeOnly)
        } else if facts.isPastItsEnd || facts.isLost {
            self.init(.active, .restart, canRefreshCredentials: false)
        } else if facts.isRestart && !facts.isTouched {
            // The response with this upload id may have been lost, so the client may still use the previous one.
            self.init(.active, .restart)
        } else if facts.hasPart {
            self.init(.active, .continue)
        } else if facts.hasMultipart {
            // Deployed clients fail on an empty list of parts.
            self.init(.active, .restart)
        } else {
            self.init(.active, .continue)
        }
    }

    private init(
        _ status: LogicalUploadStatus, _ action: UploadRecoveryAction, canRefreshCredentials: Bool = true,
        isRestartAllowed: Bool = true
    ) {
        self.status = status
        self.action = action
        self.canRefreshCredentials = canRefreshCredentials
        self.isRestartAllowed = isRestartAllowed
    }
}
