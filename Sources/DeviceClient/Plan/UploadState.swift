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
