import Proto

/// What is known of the current attempt of a logical upload, from the database and from the store.
struct UploadFacts: Sendable, Hashable {
    /// CompleteUpload was answered.
    var isCompleted = false
    var isAborted = false
    /// The store holds an object that was made of parts.
    var hasWholeMultipartObject = false
    /// Its session is over, what it stored was swept, or its endpoint is no longer ours.
    var isPastItsEnd = false
    /// The store misses data that it had acknowledged.
    var isLost = false
    /// It took the place of an earlier attempt.
    var isRestart = false
    /// A data-plane request came under its upload id.
    var isTouched = false
    /// A multipart upload is open.
    var hasMultipart = false
    /// One of them holds a part.
    var hasPart = false
}

/// What GetUploadRecovery answers: the client does what it is told here, so a wrong answer strands it.
///
/// The rules are tried in their order, and the first that holds decides.
struct RecoveryDecision: Sendable, Hashable {
    let status: LogicalUploadStatus
    let action: UploadRecoveryAction
    /// Whether ReissueUploadCredentials answers.
    let canRefreshCredentials: Bool
    /// Whether CreateLogicalUpload takes the upload id as one to restart from.
    let isRestartAllowed: Bool

    init(_ facts: UploadFacts) {
        if facts.isCompleted {
            self.init(.completed, .completeOnly, canRefreshCredentials: true, isRestartAllowed: false)
        } else if facts.isAborted {
            self.init(.terminal, .abort, canRefreshCredentials: false, isRestartAllowed: false)
        } else if facts.hasWholeMultipartObject {
            // Whatever its session: every byte is here, and one call is missing.
            self.init(.completing, .completeOnly)
        } else if facts.isPastItsEnd || facts.isLost {
            self.init(.active, .restart, canRefreshCredentials: false)
        } else if facts.isRestart && !facts.isTouched {
            // The answer that named this upload id may have been lost, and the client still speak of the one before.
            self.init(.active, .restart)
        } else if facts.hasPart {
            self.init(.active, .continue)
        } else if facts.hasMultipart {
            // A deployed client fails on a list of parts that is empty.
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
