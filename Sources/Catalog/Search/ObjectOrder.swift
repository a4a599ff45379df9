import Basics
import Database
import GatewayFormats
import RPC

/// An order of lists other than newest first: the field `order_by` of ListObjects.
struct ObjectOrder: Sendable, Hashable {
    enum Key: String, Sendable {
        case created, recorded, size, name

        /// The expression in the key's index.
        fileprivate var sql: String {
            switch self {
            case .created: "created_at"
            case .recorded: RecordingTime.sql
            case .size: "size"
            case .name: "coalesce(lower(name), '')"
            }
        }
    }

    let key: Key
    let isDescending: Bool

    var sql: String { key.sql }

    /// - Parameter text: a key, optionally followed by ` desc`; empty = `nil`.
    /// - Throws: INVALID_ARGUMENT for any other text.
    static func parse(_ text: String) throws(RPCError) -> ObjectOrder? {
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && parts[1] == "desc", let key = Key(rawValue: String(parts[0]))
        else {
            throw .invalidArgument(
                "order_by must be created, recorded, size or name, with \" desc\" for the largest first")
        }
        return ObjectOrder(key: key, isDescending: parts.count == 2)
    }

    /// Returns the value by which an object is sorted.
    func value(of row: Row) -> OrderValue {
        switch key {
        case .created: .number(row.int64("created_at"))
        case .recorded: .number(row.optionalInt64("recorded_from") ?? row.int64("created_at"))
        case .size: .number(row.int64("size"))
        case .name: .text(OrderValue.lowercased(row.text("name")))
        }
    }
}

/// The place of an object in an order: objects with equal values are sorted by position.
struct OrderPlace: Sendable, Hashable {
    let value: OrderValue
    let position: Int64

    /// Whether the place precedes another one in ascending order.
    func precedes(_ other: OrderPlace) -> Bool {
        value == other.value ? position < other.position : value.precedes(other.value)
    }
}

/// A value by which objects are sorted.
enum OrderValue: Sendable, Hashable {
    case number(Int64)
    case text(String)

    /// Maps ASCII letters to lower case, like SQL's `lower` in both engines.
    static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { $0.asciiLowercased }, as: UTF8.self)
    }

    var argument: any Bindable {
        switch self {
        case .number(let number): number
        case .text(let text): text
        }
    }

    /// Whether the value precedes another one. Texts are compared by bytes, as in an index.
    func precedes(_ other: OrderValue) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own < other
        case (.text(let own), .text(let other)): own.utf8.lexicographicallyPrecedes(other.utf8)
        case (.number, .text): true
        case (.text, .number): false
        }
    }
}
