import Basics
import HTTPClient

/// Writes items to one destination.
protocol DestinationWriter: Sendable {
    /// Returns the reason why the key is invalid at the destination; `nil` = it is valid.
    func objection(to key: String) -> String?

    /// Returns the path of a key from the destination's root on; equal paths are the same file or object.
    func path(of key: String) -> String

    /// Determines what the destination already has under the key.
    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent

    /// Writes the item, continuing an earlier attempt. On return it is complete, and durable if the destination is on this machine;
    /// before that nothing exists under the key.
    ///
    /// - Parameters:
    ///   - found: what was found there before.
    ///   - replaces: whether other content that exists by then may be overwritten.
    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws

    /// Removes the remains of an item that will not be finished.
    func abandon(_ item: CopyItem) async throws
}

/// The content of a destination under a key.
enum DestinationContent: Sendable, Hashable {
    case nothing
    /// The same bytes as the source.
    case same
    case another
    /// The destination does not tell.
    case unknown
}

/// The source of a copy, which never changes.
struct CopySource: Sendable {
    let file: FileReader
    let size: Int64
    let crc64: UInt64
}

/// The services of the gateway that writers use.
struct CopyEnvironment: Sendable {
    let clock: any WallClock
}

/// Records the progress of an attempt. Each function returns when the record is durable, and throws `CancellationError` if the job
/// was canceled.
struct CopyProgress: Sendable {
    /// Records the number of bytes at the destination, counted from the first.
    let reached: @Sendable (_ bytes: Int64) async throws -> Void
    /// Records the multipart upload that a later attempt will continue.
    let began: @Sendable (_ multipart: CopyItem.Multipart?) async throws -> Void
}
