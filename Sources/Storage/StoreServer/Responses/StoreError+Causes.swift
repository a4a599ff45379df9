import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

extension StoreError {
    /// Converts any error to one for clients. Transient errors are a 503: clients retry.
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
                case .key(let reason): reason
                case .parameter(let name):
                    StoreError(
                        .invalidArgument,
                        "The parameter \(name.filter(\.isASCII).prefix(100)) must not contain the character U+0000.")
                }
        case is WritesInFlight.Revoked:
            self = StoreError(.serviceUnavailable, "Another request changed the upload during this request. Try again.")
        case _ where StorageOutage(error) == .full:
            self = StoreError(.serviceUnavailable, "The disk is full. Try again later.")
        case _ where StorageOutage(error) == .unavailable:
            self = StoreError(.serviceUnavailable, "The service is unavailable. Try again later.")
        default:
            self = StoreError(.internalError, "We encountered an internal error.")
        }
    }
}

extension StoreError {
    /// Converts an error of the store to one for clients.
    private init(_ error: ObjectStoreError) {
        switch error {
        case .noSuchUpload: self = .noSuchUpload
        case .noSuchObject: self = .noSuchKey
        case .writeDenied: self.init(.accessDenied, "The object can no longer be written.")
        case .uploadIsReadOnly: self.init(.accessDenied, "A static key cannot delete what a device uploaded.")
        case .objectIsCorrupted:
            self.init(
                .invalidObjectState,
                "The object is corrupted: its bytes no longer match its checksum. Put the object again.")
        case .conditionFailed(let violation): self.init(violation)
        case .sourceConditionFailed:
            self.init(.preconditionFailed, "The source does not fulfill the conditions of the copy.")
        case .laterAppendSets(let name):
            self.init(
                .invalidArgument,
                "AppendObject: \(name) can only be set when the object is created. Leave it out of later appends.")
        case .quotaExceeded(let excess): self.init(.quotaExceeded, excess)
        case .invalidPartNumber:
            self.init(.invalidArgument, "Part number must be an integer between 1 and 10000, inclusive.")
        case .partTooLarge(let limit, let isIssued):
            self.init(
                .entityTooLarge,
                "A part of this upload must be at most \(limit) bytes" + (isIssued ? ", the issued part size." : "."))
        case .objectTooLarge(let limit):
            self.init(.entityTooLarge, "An object of one PutObject must be at most \(limit) bytes.")
        case .partsNotContiguous:
            self.init(.invalidPart, "The parts of this upload must be numbered from 1 without a gap.")
        case .noParts: self.init(.invalidPart, "The upload cannot be completed without a part.")
        case .partsNotAscending: self.init(.invalidPartOrder, "The list of parts was not in ascending order.")
        case .partMismatch(let number):
            self.init(.invalidPart, "Part \(number) could not be found, or its ETag or checksum does not match.")
        case .partTooSmall(let number, let size, let partSize):
            self.init(
                .entityTooSmall,
                "Part \(number) has \(size) bytes; each part except the last must have \(partSize) bytes.")
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
                .invalidRequest, "The parts of this upload must have checksums of the kind \(algorithm.rawValue).")
        case .outOfMemory: self.init(.slowDown, "Too many bodies are being received. Reduce your request rate.")
        case .noSpaceForNewUpload:
            self.init(.serviceUnavailable, "The disk has no space for new uploads. Try again later.")
        }
    }
}

extension StoreError {
    /// Converts the reason why an object does not fulfill the condition of a write.
    private init(_ violation: WriteCondition.Violation) {
        switch violation {
        case .objectExists(forbidsOverwrite: true):
            self.init(.fileAlreadyExists, "The object exists already, and the request forbids to overwrite it.")
        case .objectExists(forbidsOverwrite: false):
            self.init(.preconditionFailed, "The object exists already, and the request has If-None-Match: *.")
        case .noObject: self.init(.noSuchKey, "The request has If-Match, but the key does not exist.")
        case .otherETag(let tag):
            self.init(.preconditionFailed, "The object's ETag is \(tag), which If-Match does not name.")
        case .fileIsMissing:
            self.init(
                .serviceUnavailable,
                "The object's file is missing, so nothing can be appended. Put the object again.")
        case .notAppendable:
            self.init(.objectNotAppendable, "The object was not made by AppendObject, so nothing can be appended.")
        case .wrongPosition(let position, let size):
            self.init(
                positionNotEqualTo: size, "AppendObject at position \(position), but the object has \(size) bytes.")
        case .replaced(let size):
            self.init(
                positionNotEqualTo: size,
                """
                The object was replaced during the request. Read its size again and repeat the append there.
                """)
        }
    }

    /// Clients of OSS read the size from the field of the response, as after a successful append.
    private init(positionNotEqualTo size: Int64, _ message: String) {
        self.init(.positionNotEqualToLength, message, details: [.init("ObjectSize", String(size))])
        fields = ["x-oss-next-append-position": String(size)]
    }
}

extension StoreError {
    static let noSuchUpload = StoreError(
        .noSuchUpload, "The specified upload does not exist. It may have been aborted, completed or replaced.")
    static let noSuchKey = StoreError(.noSuchKey, "The specified key does not exist.")
}
