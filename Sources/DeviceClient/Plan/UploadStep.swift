package import StoreClient

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
