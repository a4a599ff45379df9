import Basics
import Database
import RPC

/// An order of lists other than newest first: the field `order_by` of ListObjects.
struct ObjectOrder: Sendable, Hashable {
    enum Key: String, Sendable {
        case created, size, name

        /// The expression that the key's index has.
        fileprivate var sql: String {
            switch self {
            case .created: "created_at"
            case .size: "size"
            case .name: "coalesce(lower(name), '')"
            }
        }
    }

    let key: Key
    let isDescending: Bool

    var sql: String { key.sql }

    /// - Parameter text: a key, and ` desc` for the largest first; empty = `nil`.
    /// - Throws: INVALID_ARGUMENT for any other text.
    static func parse(_ text: String) throws(RPCError) -> ObjectOrder? {
        guard !text.isEmpty else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 2 && parts[1] == "desc", let key = Key(rawValue: String(parts[0]))
        else {
            throw .invalidArgument("order_by must be created, size or name, with \" desc\" for the largest first")
        }
        return ObjectOrder(key: key, isDescending: parts.count == 2)
    }

    /// What an object is sorted by.
    func value(of row: Row) -> OrderValue {
        switch key {
        case .created: .number(row.int64("created_at"))
        case .size: .number(row.int64("size"))
        case .name: .text(OrderValue.lowercased(row.text("name")))
        }
    }
}

/// Where an object is in an order: objects of equal values follow one another by their positions.
struct OrderPlace: Sendable, Hashable {
    let value: OrderValue
    let position: Int64

    /// Whether the place stands before another one in the ascending order.
    func precedes(_ other: OrderPlace) -> Bool {
        value == other.value ? position < other.position : value.precedes(other.value)
    }
}

/// A value that objects are sorted by.
enum OrderValue: Sendable, Hashable {
    case number(Int64)
    case text(String)

    /// Maps letters to lower case as SQL's `lower` does in both engines: ASCII letters only.
    static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { $0.asciiLowercased }, as: UTF8.self)
    }

    var argument: any Bindable {
        switch self {
        case .number(let number): number
        case .text(let text): text
        }
    }

    /// Texts compare by their bytes, as in an index.
    func precedes(_ other: OrderValue) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own < other
        case (.text(let own), .text(let other)): own.utf8.lexicographicallyPrecedes(other.utf8)
        case (.number, .text): true
        case (.text, .number): false
        }
    }
}
