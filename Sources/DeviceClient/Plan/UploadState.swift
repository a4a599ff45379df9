package import Proto
package import StoreClient

/// The state of an upload as this client knows it: the result of its events.
///
/// Pure: it determines the next step, and the engine executes it. A crash between a step's response and its event loses only that
/// response; the gateway and the store are asked for it (`RecoveryStep`, `UploadStep`).
package struct UploadState: Sendable, Equatable {
    package enum Phase: Sendable, Equatable {
        case begun
        /// Nothing is known to be in the store.
        case created(UploadAttempt)
        /// The acknowledged parts by number.
        case sending(UploadAttempt, multipart: String, parts: [Int: StorePart])
        case stored(UploadAttempt, etag: String, parts: Int)
    }

    /// An event that cannot occur here, or has impossible values: another program wrote the journal.
    package struct Misplaced: Error, Equatable, CustomStringConvertible {
        package var description: String { "the journal of the upload has an event that cannot occur there" }
    }

    package let source: SourceIdentity
    package let tags: [String: String]
    /// The idempotency key of the first CreateLogicalUpload.
    package let key: String
    /// The path below the folder that is uploaded; `nil` = the file was given itself.
    package let path: String?
    /// `nil` before the gateway's first response.
    package private(set) var logicalID: String?
    package private(set) var phase = Phase.begun

    /// - Parameter first: the first event of the journal.
    package init(_ first: UploadEvent) throws(Misplaced) {
        guard case .begun(let source, let tags, let key, let path) = first, source.size >= 0 else { throw Misplaced() }
        self.source = source
        self.tags = tags
        self.key = key
        self.path = path
    }

    package mutating func apply(_ event: UploadEvent) throws(Misplaced) {
        switch (phase, event) {
        case (_, .created(let logical, let attempt)) where attempt.partSize > 0:
            logicalID = logical
            phase = .created(attempt)
        case (.created(let attempt), .initiated(let multipart)):
            phase = .sending(attempt, multipart: multipart, parts: [:])
        case (.sending(let attempt, let multipart, var parts), .acknowledged(let part)):
            parts[part.number] = part
            phase = .sending(attempt, multipart: multipart, parts: parts)
        case (.sending(let attempt, let multipart, _), .held(let parts)):
            phase = .sending(
                attempt, multipart: multipart, parts: Dictionary(parts.map { ($0.number, $0) }) { $1 })
        case (.sending(let attempt, _, _), .lost):
            phase = .created(attempt)
        case (.created(let attempt), .stored(let upload, let etag, let parts)),
            (.sending(let attempt, _, _), .stored(let upload, let etag, let parts)),
            (.stored(let attempt, _, _), .stored(let upload, let etag, let parts)):
            phase = .stored(attempt.continued(as: upload), etag: etag, parts: parts)
        default:
            throw Misplaced()
        }
    }

    /// Returns the idempotency key of a restart: a repeated call, or one that arrives when the next attempt already has parts, does
    /// not restart again.
    package func key(restartingFrom former: String) -> String { "\(key)-\(former)" }

    /// The current attempt.
    package var attempt: UploadAttempt? {
        switch phase {
        case .created(let attempt), .sending(let attempt, _, _), .stored(let attempt, _, _): attempt
        case .begun: nil
        }
    }

    /// The bytes of the file that the store has acknowledged.
    package var acknowledgedBytes: Int64 {
        switch phase {
        case .begun, .created: 0
        case .sending(_, _, let parts): parts.values.reduce(0) { $0 &+ $1.size }
        case .stored: source.size
        }
    }
}

extension UploadAttempt {
    /// Returns the same attempt with the gateway's id.
    fileprivate func continued(as upload: String) -> UploadAttempt {
        UploadAttempt(
            upload: upload, endpoint: endpoint, region: region, bucket: bucket, key: key, partSize: partSize)
    }
}

/// The next step of an upload.
package enum UploadStep: Sendable, Equatable {
    /// CreateLogicalUpload.
    case create
    /// PutObject of the whole file.
    case put(UploadAttempt)
    /// InitiateMultipartUpload.
    case initiate(UploadAttempt)
    /// UploadPart of these parts, with number and range in the file.
    case send(UploadAttempt, multipart: String, [PartRange])
    /// CompleteMultipartUpload.
    case join(UploadAttempt, multipart: String, [StorePart])
    /// CompleteUpload.
    case complete(UploadAttempt, etag: String, parts: Int)
    /// Failure: no step is possible. The reason is the rest of a sentence that begins with the file.
    case fail(reason: String)
}

extension UploadState {
    package var step: UploadStep {
        switch phase {
        case .begun: .create
        case .created(let attempt):
            if source.size <= attempt.partSize {
                .put(attempt)
            } else if (source.size - 1) / attempt.partSize >= PartRange.maximumCount {
                .fail(reason: "has \(source.size) bytes, more than 10,000 parts of \(attempt.partSize) bytes")
            } else {
                .initiate(attempt)
            }
        case .sending(let attempt, let multipart, let parts):
            sending(attempt, multipart, parts)
        case .stored(let attempt, let etag, let parts): .complete(attempt, etag: etag, parts: parts)
        }
    }

    private func sending(_ attempt: UploadAttempt, _ multipart: String, _ parts: [Int: StorePart]) -> UploadStep {
        let all = PartRange.all(size: source.size, partSize: attempt.partSize)
        let missing = all.filter { parts[$0.number]?.size != Int64($0.bytes.count) }
        guard missing.isEmpty else { return .send(attempt, multipart: multipart, missing) }
        return .join(attempt, multipart: multipart, all.compactMap { parts[$0.number] })
    }
}

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
