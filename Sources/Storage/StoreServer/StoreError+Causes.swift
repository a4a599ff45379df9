import ObjectStore
import StoreProtocol

extension StoreError {
    /// What anything that went wrong is to a client. Trouble that may pass is a 503: clients try again.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as ObjectStoreError:
            self.init(error)
        case let error as RequestTarget.Malformed:
            self =
                switch error {
                case .target: StoreError(.invalidURI, "The URI could not be parsed.")
                case .bucket: StoreError(.invalidBucketName, "The bucket name is not valid.")
                case .key: StoreError(.invalidObjectName, "The object name is not valid.")
                }
        case is WritesInFlight.Revoked:
            self = StoreError(.serviceUnavailable, "The upload was changed by another request while this one was sent.")
        case _ where StorageOutage(error) == .full:
            self = StoreError(.serviceUnavailable, "There is no room to store this now.")
        case _ where StorageOutage(error) == .unavailable:
            self = StoreError(.serviceUnavailable, "The service is unavailable now.")
        default:
            self = StoreError(.internalError, "We encountered an internal error.")
        }
    }
}

extension StoreError {
    /// What a refusal of the store is to a client.
    private init(_ error: ObjectStoreError) {
        switch error {
        case .noSuchUpload: self = .noSuchUpload
        case .noSuchObject: self = .noSuchKey
        case .writeDenied: self.init(.accessDenied, "The object may not be written any more.")
        case .quotaExceeded(let excess): self.init(.quotaExceeded, excess)
        case .invalidPartNumber:
            self.init(.invalidArgument, "Part number must be an integer between 1 and 10000, inclusive.")
        case .partTooLarge(let limit, let isIssued):
            self.init(
                .entityTooLarge,
                "A part of this upload is at most \(limit) bytes" + (isIssued ? ", the part size it was issued." : "."))
        case .objectTooLarge(let limit):
            self.init(.entityTooLarge, "An object put whole is at most \(limit) bytes.")
        case .partsNotContiguous: self.init(.invalidPart, "The parts must be contiguous, from part number 1.")
        case .partsNotAscending: self.init(.invalidPartOrder, "The list of parts was not in ascending order.")
        case .partMismatch(let number):
            self.init(.invalidPart, "Part \(number) could not be found, or its ETag or checksum is another.")
        case .partTooSmall(let number, let size, let partSize):
            self.init(
                .entityTooSmall, "Part \(number) has \(size) bytes; each part but the last must have \(partSize).")
        case .sizeMismatch(let size, let expected):
            self.init(.invalidRequest, "The object has \(size) bytes, not \(expected).")
        case .md5Mismatch: self.init(.badDigest, "The Content-MD5 you specified did not match what we received.")
        case .sha256Mismatch:
            self.init(
                .contentSHA256Mismatch, "The provided 'x-amz-content-sha256' header does not match what was computed.")
        case .checksumMismatch(let algorithm):
            self.init(
                .badDigest, "The \(algorithm.rawValue) you specified did not match the calculated checksum.")
        case .checksumNotOfUpload(let algorithm):
            self.init(
                .invalidRequest, "The parts of this upload have checksums of the kind \(algorithm.rawValue).")
        case .outOfMemory: self.init(.slowDown, "Too many bodies are being received. Reduce your request rate.")
        case .noSpaceForNewUpload: self.init(.serviceUnavailable, "There is no room for new uploads now.")
        }
    }
}

extension StoreError {
    static let noSuchUpload = StoreError(
        .noSuchUpload, "The specified upload does not exist. It may have been aborted, completed or replaced.")
    static let noSuchKey = StoreError(.noSuchKey, "The specified key does not exist.")
}
