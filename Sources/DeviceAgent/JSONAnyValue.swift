import Basics

/// Any JSON.
enum JSONAnyValue: Decodable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONAnyValue])
    case object([String: JSONAnyValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONAnyValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONAnyValue].self))
        }
    }

    /// The value as a number of bytes, written as a number or as a text with a unit.
    var bytes: Int64? {
        switch self {
        case .integer(let number) where number >= 0 && number < .max: number
        case .text(let text): ByteQuantity.bytes(text)
        default: nil
        }
    }
}
