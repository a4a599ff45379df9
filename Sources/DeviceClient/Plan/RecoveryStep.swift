import Proto

/// What GetUploadRecovery's answer means for an upload whose last answers may be lost.
package enum RecoveryStep: Sendable, Equatable {
    /// The attempt lives: compare with the store, then take the next step.
    case goOn
    /// CreateLogicalUpload with this as `restart_from_upload_id`.
    case restart(from: String)
    /// The store holds every byte: CompleteUpload, with these.
    case complete(upload: String, etag: String, parts: Int)
    /// The gateway never issued the id, or has another's: CreateLogicalUpload.
    case beginAnew
    /// It was aborted.
    case end(reason: String)
    /// The answer makes no sense.
    case refuse(reason: String)
}

extension UploadState {
    /// - Parameters:
    ///   - answer: `nil` for UPLOAD_NOT_FOUND.
    ///   - wasRefused: CompleteUpload was called and said that the object is not what it was told.
    package func recovery(_ answer: GetUploadRecoveryResponse?, wasRefused: Bool = false) -> RecoveryStep {
        guard let answer, let attempt else { return .beginAnew }
        let current = answer.currentUploadID.isEmpty ? attempt.upload : answer.currentUploadID
        switch answer.nextAction {
        case .continue where current != attempt.upload:
            // A restart of ours whose answer was lost: what it stored cannot be told from here.
            return .restart(from: current)
        case .continue:
            if case .stored = phase, wasRefused { return .restart(from: current) }
            return .goOn
        case .restart:
            return answer.restartAllowed
                ? .restart(from: current) : .refuse(reason: "the gateway neither continues the upload nor restarts it")
        case .completeOnly:
            guard !answer.ossObjectEtag.isEmpty else { return .refuse(reason: "the gateway did not name the object") }
            return .complete(upload: current, etag: answer.ossObjectEtag, parts: Int(answer.completedPartCount))
        case .abort:
            return .end(reason: answer.terminalReason)
        default:
            return .refuse(reason: "the gateway's next action \(answer.nextAction) is unknown to this version")
        }
    }
}
