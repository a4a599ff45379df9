/// The stored or the free bytes in relation to a limit.
///
/// A warning begins near the limit and ends at some distance from it, so that one upload and one deletion do not repeat it.
struct StorageLevel: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        case site(Int64)
        case device(String)
        /// The disk with the objects.
        case disk

        /// The name in events and in the table of warnings.
        var name: String {
            switch self {
            case .site(let id): "sites/\(id)"
            case .device(let id): "devices/\(id)"
            case .disk: "store"
            }
        }
    }

    let subject: Subject
    /// The stored bytes of a site or a device, the free bytes of the disk.
    let bytes: Int64
    /// The quota, or the free bytes below which new uploads are refused.
    let limit: Int64

    /// Whether a warning begins: at 90 % of a quota, or below twice the minimum of free bytes.
    var isNearlyFull: Bool {
        subject == .disk ? bytes < limit * 2 : bytes >= limit - limit / 10
    }

    /// Whether a warning ends: below 85 % of a quota, or from two and a half times the minimum on.
    var isRelieved: Bool {
        subject == .disk ? bytes >= limit * 2 + limit / 2 : bytes < Self.end(ofWarningFor: limit)
    }

    /// Returns the stored bytes below which the warning about a quota ends.
    static func end(ofWarningFor quota: Int64) -> Int64 { quota - quota / 20 * 3 }
}
