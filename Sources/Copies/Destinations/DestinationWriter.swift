import Platform
import Transfer

/// Brings items to one destination.
protocol DestinationWriter: Sendable {
    /// Why the key cannot be one there; `nil` = it can.
    func objection(to key: String) -> String?

    /// Whether the destination has the very bytes at that key already.
    func holds(_ item: CopyItem, _ source: CopySource) async throws -> Bool

    /// Goes on where an earlier attempt stopped. Whole when it returns, and durable where that is this machine's to do;
    /// until then nothing is there under the key.
    func write(_ item: CopyItem, _ source: CopySource, _ progress: CopyProgress) async throws

    /// Removes what is there of an item that will not be finished.
    func abandon(_ item: CopyItem) async throws
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
