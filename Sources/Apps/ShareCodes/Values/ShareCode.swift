import Basics
import RPC

/// A code that a person tells others: 6 or 8 letters and digits. People type it, so upper and lower case are equal.
struct ShareCode: Sendable, Hashable {
    static let lengths = [6, 8]

    /// The code as it was sent.
    let text: String
    /// The code in upper case, in which codes are stored and compared.
    let key: String

    init(_ text: String) throws(RPCError) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIAlphanumeric) else {
            throw .invalid("shareCode", "must be 6 or 8 letters and digits")
        }
        self.text = text
        key = text.uppercased()
    }

    static func == (left: ShareCode, right: ShareCode) -> Bool { left.key == right.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
