/// The treatment of a selected file by an upload.
package enum UploadDecision: Sendable, Hashable {
    /// It is sent.
    case send
    /// Its unfinished upload is continued.
    case proceed
    /// It changed after its unfinished upload began: that one is aborted, and the file is sent from the beginning.
    case startOver
    /// It is not sent: the gateway has it.
    case stored(fileID: String)
    /// It is not sent: the gateway had it, and it was deleted there.
    case deleted(fileID: String)
}

/// A file for which a decision is made.
package struct UploadCandidate: Sendable, Hashable {
    /// The absolute path.
    package let path: String
    /// The path below the folder that is uploaded; `nil` = the file was given itself.
    package let relativePath: String?

    package init(path: String, relativePath: String?) {
        self.path = path
        self.relativePath = relativePath
    }
}

/// A selected file with everything that is known of it before its bytes are read.
package struct PreparedUpload: Sendable {
    enum Knowledge: Sendable {
        case decided(UploadDecision)
        /// The answer of the gateway, if the bytes are those that it means.
        case lookup(StoredLookup)
    }

    package let candidate: UploadCandidate
    /// `nil` = there is no such file, which the upload reports.
    let source: SourceIdentity?
    let confirmed: DeliveredFiles.Confirmed?
    let knowledge: Knowledge

    /// The relation of the file to the version that the gateway confirmed.
    var match: DeliveredFiles.Match {
        guard let source, let confirmed else { return .none }
        return confirmed.match(source)
    }

    /// CRC-64/XZ of the bytes that the file has, as far as it is known without reading them.
    var crc64: UInt64? { match == .same ? confirmed?.crc64 : nil }
}

/// The gateway's answer about one file.
struct StoredLookup: Sendable, Hashable {
    enum State: Sendable {
        case stored
        case deleted
        /// The gateway needs the file, or never had it.
        case missing
    }

    /// The gateway has to get the file.
    static let missing = StoredLookup(state: .missing, fileID: "", crc64: nil, verifiedAt: 0)

    let state: State
    let fileID: String
    /// CRC-64/XZ of the bytes; `nil` = unknown.
    let crc64: UInt64?
    /// Seconds since 1970.
    let verifiedAt: Int64
}
