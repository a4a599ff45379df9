import Basics

/// What a client tells of its file when an upload begins, in `client_hints`: shown while the upload is under way, and the
/// first choice for the object's name. Deployed SDKs tell name and size with CompleteUpload only.
///
/// A hint of another form is passed over: it would be wrong to refuse a file for how it is described.
struct UploadHints: Sendable, Hashable {
    static let none = UploadHints(fileName: nil, fileSize: nil, recordedFrom: nil, recordedTo: nil)

    let fileName: FileName?
    /// Bytes.
    let fileSize: Int64?
    /// The time that the content covers.
    let recordedFrom: UnixTime?
    let recordedTo: UnixTime?
}

extension UploadHints {
    /// From the hints `file_name`, `file_size` (a decimal number), `recorded_from` and `recorded_to` (RFC 3339).
    init(_ hints: [String: String]) {
        self.init(
            fileName: hints["file_name"].flatMap { FileName($0) },
            fileSize: hints["file_size"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil },
            recordedFrom: hints["recorded_from"].flatMap { RFC3339.parse($0)?.time },
            recordedTo: hints["recorded_to"].flatMap { RFC3339.parse($0)?.time })
    }
}
