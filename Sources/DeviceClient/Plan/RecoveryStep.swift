package import Proto

/// The meaning of GetUploadRecovery's response for an upload whose last responses may be lost.
package enum RecoveryStep: Sendable, Equatable {
    /// The attempt is in progress: compare with the store, then take the next step.
    case goOn
    /// Call CreateLogicalUpload with this id as `restart_from_upload_id`.
    case restart(from: String)
    /// The store has every byte: call CompleteUpload with these values.
    case complete(upload: String, etag: String, parts: Int)
    /// The gateway does not know the id, or has another attempt's: call CreateLogicalUpload.
    case beginAnew
    /// The upload was aborted.
    case end(reason: String)
    /// The response is invalid.
    case refuse(reason: String)
}

extension UploadState {
    /// - Parameters:
    ///   - response: `nil` for UPLOAD_NOT_FOUND.
    ///   - wasRefused: whether CompleteUpload reported that the object differs from the request.
    package func recovery(_ response: GetUploadRecoveryResponse?, wasRefused: Bool = false) -> RecoveryStep {
        guard let response, let attempt else { return .beginAnew }
        let current = response.currentUploadID.isEmpty ? attempt.upload : response.currentUploadID
        switch response.nextAction {
        case .continue where current != attempt.upload:
            // A restart by this client whose response was lost: the parts that it stored are unknown.
            return .restart(from: current)
        case .continue:
            if case .stored = phase, wasRefused { return .restart(from: current) }
            return .goOn
        case .restart:
            return response.restartAllowed
                ? .restart(from: current) : .refuse(reason: "the gateway neither continues the upload nor restarts it")
        case .completeOnly:
            guard !response.ossObjectEtag.isEmpty else {
                return .refuse(reason: "the gateway's response has no ETag of the stored object")
            }
            return .complete(upload: current, etag: response.ossObjectEtag, parts: Int(response.completedPartCount))
        case .abort:
            return .end(reason: response.terminalReason)
        default:
            return .refuse(reason: "the gateway's next action \(response.nextAction) is unknown to this version")
        }
    }
}
