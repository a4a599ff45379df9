import Basics
import Crypto
import Database
import JSON
import ObjectStore

/// The object `identity` below a prefix: the database that the keys belong to, and its position when the object was written.
struct BucketIdentity: Sendable, Equatable {
    static let name = "identity"
    static let maximumBytes = 4 << 10

    let storeID: String
    let history: String
    let position: Int64
    let recordedAt: UnixTime
    /// Whether it was written at a clean stop: a database of this position has then all rows.
    let isClean: Bool

    init(storeID: String, history: String, position: Int64, at time: UnixTime, isClean: Bool) {
        self.storeID = storeID
        self.history = history
        self.position = position
        recordedAt = UnixTime(microseconds: time.microseconds / 1000 * 1000)
        self.isClean = isClean
    }

    /// Reads a document; `nil` for any other object.
    init?(_ bytes: [UInt8]) {
        guard let members = (try? JSONValue(parsing: bytes))?.members,
            let storeID = members["store"]?.stringValue, let history = members["history"]?.stringValue,
            let position = members["position"]?.integer,
            let text = members["recorded_at"]?.stringValue, let time = RFC3339.parse(text)?.time
        else { return nil }
        self.init(
            storeID: storeID, history: history, position: position, at: time,
            isClean: members["is_clean"] == .bool(true))
    }

    var bytes: [UInt8] {
        var writer = JSONObjectWriter()
        writer.text("store", storeID)
        writer.text("history", history)
        writer.number("position", Int(position))
        writer.text("recorded_at", RFC3339.milliseconds(recordedAt))
        writer.bool("is_clean", isClean)
        return writer.finished
    }

    /// Compares a database with the bucket's record of it.
    func compare(_ database: StoreHistory) -> BucketState {
        guard database.id == history else { return .diverged(.otherHistory) }
        guard database.position >= position else { return .diverged(.older) }
        return isClean && database.position == position ? .matching : .comparing
    }

    static func newID() -> String { Random.hex(16) }
}

/// The prefix of a bucket has the objects of another gateway.
package struct PrefixOfAnotherGateway: Error, Sendable, Hashable, CustomStringConvertible {
    /// The prefix for people.
    let name: String
    /// `nil` = its identity cannot be read.
    let storeID: String?

    package var description: String {
        let owner =
            storeID.map { "has the objects of another gateway (its store is \($0))" } ?? "has a damaged identity"
        return """
            \(name) \(owner): correct objects.prefix or the data directory; to replace a lost data directory, restore a backup \
            of that gateway with data-gateway restore
            """
    }
}
