import Protobuf

/// A field, with the properties that the generated code needs.
struct Field {
    enum Shape {
        /// Without presence: the initial value is not sent.
        case implicit
        case optional
        case repeated
        case packed
        case map
        /// A case of the oneof with this index.
        case oneof(Int)
    }

    let number: Int32
    /// The name of the property, or of the oneof's case.
    let name: String
    let shape: Shape
    /// The codec's type, e.g. `ProtoString`.
    let codec: String
    /// The Swift type of one value, e.g. `String`.
    let valueType: String
    let isMessage: Bool
    /// Whether the message contains itself through this field.
    let isRecursive: Bool
    /// The field's index within its message, for the path of its comment.
    let index: Int32
    private let wireType: UInt32

    init(_ descriptor: FieldDescriptorProto, at index: Int, of owner: String, in file: SourceFile) throws(PluginError) {
        self.index = Int32(index)
        number = descriptor.number ?? 0
        name = SwiftNames.member(descriptor.name ?? "")
        let isRepeated = descriptor.label == .repeated
        let typeName = descriptor.typeName ?? ""
        isMessage = descriptor.type == .message
        isRecursive = isMessage && !isRepeated && file.types.embeds(owner, in: typeName)
        if isMessage, isRepeated, let entry = try file.types[typeName].message, entry.options?.mapEntry == true {
            let key = try Field(entry.field[0], at: 0, of: typeName, in: file)
            let value = try Field(entry.field[1], at: 1, of: typeName, in: file)
            codec = "ProtoMap<\(key.codec), \(value.codec)>"
            valueType = "[\(key.valueType): \(value.valueType)]"
            wireType = WireType.delimited
            shape = .map
            return
        }
        (codec, valueType, wireType) = try Self.scalar(descriptor, in: file)
        if isRepeated {
            shape = wireType != WireType.delimited && descriptor.options?.packed ?? file.isProto3 ? .packed : .repeated
        } else if let oneof = descriptor.oneofIndex, descriptor.proto3Optional != true {
            shape = .oneof(Int(oneof))
        } else {
            let hasPresence = isMessage || descriptor.proto3Optional == true || !file.isProto3
            shape = hasPresence ? .optional : .implicit
        }
    }

    private static func scalar(
        _ descriptor: FieldDescriptorProto, in file: SourceFile
    ) throws(PluginError) -> (codec: String, valueType: String, wireType: UInt32) {
        switch descriptor.type {
        case .double: return ("ProtoDouble", "Double", WireType.fixed64)
        case .float: return ("ProtoFloat", "Float", WireType.fixed32)
        case .int64: return ("ProtoInt64", "Int64", WireType.varint)
        case .uint64: return ("ProtoUInt64", "UInt64", WireType.varint)
        case .int32: return ("ProtoInt32", "Int32", WireType.varint)
        case .fixed64: return ("ProtoFixed64", "UInt64", WireType.fixed64)
        case .fixed32: return ("ProtoFixed32", "UInt32", WireType.fixed32)
        case .bool: return ("ProtoBool", "Bool", WireType.varint)
        case .string: return ("ProtoString", "String", WireType.delimited)
        case .bytes: return ("ProtoBytes", "[UInt8]", WireType.delimited)
        case .uint32: return ("ProtoUInt32", "UInt32", WireType.varint)
        case .sfixed32: return ("ProtoSFixed32", "Int32", WireType.fixed32)
        case .sfixed64: return ("ProtoSFixed64", "Int64", WireType.fixed64)
        case .sint32: return ("ProtoSInt32", "Int32", WireType.varint)
        case .sint64: return ("ProtoSInt64", "Int64", WireType.varint)
        case .message:
            let type = try file.types[descriptor.typeName ?? ""].swiftName
            return ("ProtoMessage<\(type)>", type, WireType.delimited)
        case .enum:
            let type = try file.types[descriptor.typeName ?? ""].swiftName
            return ("ProtoEnum<\(type)>", type, WireType.varint)
        case .group, .unrecognized, nil:
            throw PluginError("\(file.name): field \(descriptor.name ?? "") is a group, which is not supported")
        }
    }

    /// The tag with which the field is written.
    var tag: UInt32 {
        if case .packed = shape { return packedTag }
        return elementTag
    }

    /// The tag of one element of a repeated field that is not packed.
    var elementTag: UInt32 { UInt32(number) << 3 | wireType }

    /// Whether both encodings, packed and not packed, must be read.
    var isPackable: Bool { wireType != WireType.delimited }

    var packedTag: UInt32 { UInt32(number) << 3 | WireType.delimited }

    /// The argument label of the codec's `size` and `write` for this shape.
    var argumentLabel: String {
        switch shape {
        case .implicit, .map: ""
        case .optional: "optional: "
        case .repeated: "repeated: "
        case .packed: "packed: "
        case .oneof: "present: "
        }
    }

    /// The property's declared type and its initial value.
    var declaration: (type: String, initial: String) {
        switch shape {
        case .implicit: (valueType, initialValue)
        case .optional, .oneof: ("\(valueType)?", "nil")
        case .repeated, .packed: ("[\(valueType)]", "[]")
        case .map: (valueType, "[:]")
        }
    }

    private var initialValue: String {
        switch valueType {
        case "String": "\"\""
        case "[UInt8]": "[]"
        case "Bool": "false"
        case "Int32", "Int64", "UInt32", "UInt64", "Float", "Double": "0"
        default: "\(valueType)(rawValue: 0)"
        }
    }
}
