import Basics
import GatewayAPI
import RPC

/// The description of the file in `client_hints` when an upload begins. It is shown during the upload, and provides the preferred
/// name of the object. Deployed SDKs send name and size only with CompleteUpload.
///
/// Malformed hints are ignored: a file should not be refused because of its description. A path is checked, since clients make folders
/// of it.
struct UploadHints: Sendable, Hashable {
    static let none = UploadHints(fileName: nil, fileSize: nil, recordedFrom: nil, recordedTo: nil)

    let fileName: FileName?
    /// The path below the folder that is uploaded.
    var relativePath: RelativePath?
    /// The size in bytes.
    let fileSize: Int64?
    /// The time range that the content covers.
    let recordedFrom: UnixTime?
    let recordedTo: UnixTime?
}

extension UploadHints {
    /// Reads the hints `file_name`, `relative_path`, `file_size` (a decimal number), `recorded_from` and `recorded_to` (RFC 3339).
    ///
    /// - Throws: INVALID_ARGUMENT for a path that breaks the rule of ``RelativePath``.
    init(_ hints: [String: String]) throws(RPCError) {
        self.init(
            fileName: hints["file_name"].flatMap { FileName($0) },
            fileSize: hints["file_size"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil },
            recordedFrom: hints["recorded_from"].flatMap { RFC3339.parse($0)?.time },
            recordedTo: hints["recorded_to"].flatMap { RFC3339.parse($0)?.time })
        guard let path = hints["relative_path"], !path.isEmpty else { return }
        relativePath = RelativePath(path)
        guard relativePath != nil else {
            throw .invalidArgument("client_hints[\"relative_path\"] \(RelativePath.rule)")
        }
    }
}
