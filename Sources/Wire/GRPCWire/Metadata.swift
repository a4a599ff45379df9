import Glibc

/// The header fields of a call in the order of arrival, with names in lower case.
///
/// All bytes are in one buffer: a call with few fields costs two allocations, and a string is made only of a field that is read.
public struct Metadata: Sendable {
    private struct Field: Sendable {
        var start: Int32
        var nameCount: Int32
        var valueCount: Int32
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    public init() {}

    public init(_ pairs: [(name: String, value: String)]) {
        for (name, value) in pairs { append(name: name, value: value) }
    }

    public var count: Int { fields.count }

    public var isEmpty: Bool { fields.isEmpty }

    public mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let field = Field(
            start: Int32(clamping: bytes.count), nameCount: Int32(clamping: name.count),
            valueCount: Int32(clamping: value.count))
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
        fields.append(field)
    }

    public mutating func append(name: String, value: String) {
        let field = Field(
            start: Int32(clamping: bytes.count), nameCount: Int32(clamping: name.utf8.count),
            valueCount: Int32(clamping: value.utf8.count))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
        fields.append(field)
    }

    /// The first value under `name`; `nil` without such an entry.
    public subscript(name: String) -> String? {
        guard let index = firstIndex(of: name) else { return nil }
        return value(fields[index])
    }

    /// Returns all values under `name`, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { matches($0, name) }.map(value)
    }

    /// Whether the first value under `name` consists of these bytes; makes no string.
    public func has(_ value: [UInt8], under name: String) -> Bool {
        guard let index = firstIndex(of: name), Int(fields[index].valueCount) == value.count else { return false }
        let field = fields[index]
        let start = Int(field.start) + Int(field.nameCount)
        return bytes.withUnsafeBytes { bytes in
            value.withUnsafeBytes { value in
                guard let own = bytes.baseAddress, let other = value.baseAddress else { return value.isEmpty }
                return memcmp(own + start, other, value.count) == 0
            }
        }
    }

    /// All fields, in order.
    public var pairs: [(name: String, value: String)] {
        fields.map { field in
            let start = Int(field.start)
            return (String(decoding: bytes[start..<start + Int(field.nameCount)], as: UTF8.self), value(field))
        }
    }

    private func firstIndex(of name: String) -> Int? {
        for index in fields.indices where matches(fields[index], name) { return index }
        return nil
    }

    private func matches(_ field: Field, _ name: String) -> Bool {
        guard Int(field.nameCount) == name.utf8.count else { return false }
        var position = Int(field.start)
        for byte in name.utf8 {
            guard bytes[position] == byte else { return false }
            position += 1
        }
        return true
    }

    private func value(_ field: Field) -> String {
        let start = Int(field.start + field.nameCount)
        return String(decoding: bytes[start..<start + Int(field.valueCount)], as: UTF8.self)
    }
}
