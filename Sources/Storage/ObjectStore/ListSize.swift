import Database
import StoreProtocol

/// The size of a list in a response, with the entries so far.
struct ListSize {
    private var bytes = 0

    /// Whether a further entry fits into a response, as the first one always does; counts it then.
    mutating func admits(_ key: String, encodesKey: Bool) -> Bool {
        let size = ListEntrySize.bytes(ofKey: key, encodesKey: encodesKey)
        guard bytes == 0 || size <= PageLimit.bytes - bytes else { return false }
        bytes += size
        return true
    }
}
