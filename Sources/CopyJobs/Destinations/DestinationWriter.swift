import Basics
import HTTPClient

/// Brings items to one destination.
protocol DestinationWriter: Sendable {
    /// Why the key cannot be one there; `nil` = it can.
    func objection(to key: String) -> String?

    /// The path of a key from the destination's root on; equal paths are the same file or object there.
    func path(of key: String) -> String

    /// What the destination has at that key already.
    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent

    /// Goes on where an earlier attempt stopped. Whole when it returns, and durable where that is this machine's to do;
    /// until then nothing is there under the key.
    ///
    /// - Parameters:
    ///   - found: what was found there before.
    ///   - replaces: whether something else may be written over that is there by then.
    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws

    /// Removes what is there of an item that will not be finished.
    func abandon(_ item: CopyItem) async throws
}

/// What a destination has at a key.
enum DestinationContent: Sendable, Hashable {
    case nothing
    /// The very bytes that are to be copied.
    case same
    case another
    /// It does not say.
    case unknown
}

/// The bytes that are copied; they never change.
struct CopySource: Sendable {
    let file: FileReader
    let size: Int64
    let crc64: UInt64
}

/// What writers take from the gateway.
struct CopyEnvironment: Sendable {
    let clock: any WallClock
}

/// Where an attempt tells how far it is. Each of these is durable when it returns, and throws `CancellationError` once
/// the job is canceled.
struct CopyProgress: Sendable {
    /// Bytes that the destination has, from the first on.
    let reached: @Sendable (_ bytes: Int64) async throws -> Void
    /// What an attempt to come goes on with.
    let began: @Sendable (_ multipart: CopyItem.Multipart?) async throws -> Void
}
