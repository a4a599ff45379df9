public import Protobuf

/// The messages and enums of a set of `.proto` files, read from their embedded descriptors.
///
/// With it, the JSON mapping works on encoded bytes, and no generated type contains code for JSON.
public struct Schema: Sendable {
    /// The messages by full name without a leading dot, e.g. `archebase.auth.v1.User`.
    public let messages: [String: MessageSchema]
    /// The enums by full name without a leading dot.
    package let enums: [String: EnumSchema]

    /// - Throws: if the bytes of a descriptor are not a FileDescriptorProto.
    public init(_ files: [FileDescriptor]) throws(DecodingError) {
        var messages: [String: MessageSchema] = [:]
        var enums: [String: EnumSchema] = [:]
        for file in files {
            let descriptor = try FileDescriptorProto(decoding: file.serialized)
            let scope = descriptor.package.map { "\($0)." } ?? ""
            var pending = descriptor.messageType.map { (scope: scope, message: $0) }
            for enumType in descriptor.enumType { Self.add(enumType, scope: scope, to: &enums) }
            let isProto3 = descriptor.syntax == "proto3"
            while let (scope, message) = pending.popLast() {
                let name = scope + (message.name ?? "")
                messages[name] = MessageSchema(message, fullName: name, isProto3: isProto3)
                for enumType in message.enumType { Self.add(enumType, scope: "\(name).", to: &enums) }
                pending += message.nestedType.map { ("\(name).", $0) }
            }
        }
        self.messages = messages
        self.enums = enums
    }

    private static func add(_ enumType: EnumDescriptorProto, scope: String, to enums: inout [String: EnumSchema]) {
        enums[scope + (enumType.name ?? "")] = EnumSchema(enumType)
    }
}

/// One message type.
public struct MessageSchema: Sendable {
    public let fullName: String
    /// The fields in ascending order of their numbers.
    public let fields: [FieldSchema]
    private let indexByNumber: [UInt32: Int]
    private let indexByName: [String: Int]

    init(_ message: DescriptorProto, fullName: String, isProto3: Bool) {
        self.fullName = fullName
        let entries = message.nestedType.filter { $0.options?.mapEntry == true }.map { "\(fullName).\($0.name ?? "")" }
        fields = message.field.map { FieldSchema($0, mapEntries: Set(entries), isProto3: isProto3) }
            .sorted { $0.number < $1.number }
        var byNumber: [UInt32: Int] = [:]
        var byName: [String: Int] = [:]
        for (index, field) in fields.enumerated() {
            byNumber[field.number] = index
            byName[field.name] = index
        }
        // If a field's JSON name equals another field's name, it denotes the field with the JSON name.
        for (index, field) in fields.enumerated() { byName[field.jsonName] = index }
        indexByNumber = byNumber
        indexByName = byName
    }

    package func index(ofNumber number: UInt32) -> Int? { indexByNumber[number] }

    /// - Parameter name: the name in the `.proto` file or in JSON.
    package func index(ofName name: String) -> Int? { indexByName[name] }

    /// - Parameter name: the name in the `.proto` file or in JSON.
    package func field(_ name: String) -> FieldSchema? { indexByName[name].map { fields[$0] } }
}

/// One field of a message type.
public struct FieldSchema: Sendable {
    public typealias Kind = FieldDescriptorProto.TypeEnum

    public let number: UInt32
    /// The name in the file, e.g. `site_id`.
    public let name: String
    /// The name in JSON, e.g. `siteId`.
    public let jsonName: String
    public let kind: Kind
    /// The full name of the message or enum, without a leading dot; empty for the other kinds.
    public let typeName: String
    public let isRepeated: Bool
    /// Whether the field is a map: `typeName` is its entry message, with the key as field 1 and the value as field 2.
    public let isMap: Bool
    public let isPacked: Bool
    /// The index of the oneof that contains the field.
    public let oneof: Int32?
    /// Whether a field set to its initial value differs from one that is not set.
    public let hasPresence: Bool

    init(_ field: FieldDescriptorProto, mapEntries: Set<String>, isProto3: Bool) {
        number = UInt32(truncatingIfNeeded: field.number ?? 0)
        name = field.name ?? ""
        jsonName = field.jsonName ?? name
        kind = field.type ?? .unrecognized(0)
        typeName = String((field.typeName ?? "").drop { $0 == "." })
        isRepeated = field.label == .repeated
        isMap = isRepeated && mapEntries.contains(typeName)
        isPacked = isRepeated && kind.isPackable && field.options?.packed ?? isProto3
        oneof = field.proto3Optional == true ? nil : field.oneofIndex
        hasPresence = !isRepeated && (kind == .message || field.oneofIndex != nil || !isProto3)
    }

    /// The tag of one value of the field.
    package var tag: UInt32 { number << 3 | kind.wireType }
}

extension FieldSchema.Kind {
    var wireType: UInt32 {
        switch self {
        case .double, .fixed64, .sfixed64: WireType.fixed64
        case .float, .fixed32, .sfixed32: WireType.fixed32
        case .string, .bytes, .message: WireType.delimited
        case .group: WireType.startGroup
        default: WireType.varint
        }
    }

    var initialValue: WireValue {
        switch wireType {
        case WireType.fixed64: .fixed64(0)
        case WireType.fixed32: .fixed32(0)
        case WireType.delimited: .delimited([])
        default: .varint(0)
        }
    }

    var isPackable: Bool {
        wireType == WireType.varint || wireType == WireType.fixed32 || wireType == WireType.fixed64
    }
}

/// One enum type.
package struct EnumSchema: Sendable {
    /// The names of all values, in the order of the .proto file.
    package let valueNames: [String]
    private let names: [Int32: String]
    private let numbers: [String: Int32]

    init(_ descriptor: EnumDescriptorProto) {
        var names: [Int32: String] = [:]
        var numbers: [String: Int32] = [:]
        for value in descriptor.value {
            guard let name = value.name, let number = value.number else { continue }
            // The first of several aliases is the name.
            if names[number] == nil { names[number] = name }
            numbers[name] = number
        }
        valueNames = descriptor.value.compactMap(\.name)
        self.names = names
        self.numbers = numbers
    }

    func name(of number: Int32) -> String? { names[number] }
    func number(of name: String) -> Int32? { numbers[name] }
}
